package config_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/config"
)

func TestRealBuildInfo(t *testing.T) {
	for name, want := range map[string]struct {
		rows, tags                       int
		product, branch, version, b, cdn string
	}{
		"odin-1.64.4":                         {1, 2, "", "us", "1.64.4.13050304", "fc1dd0cae8ddc9880191b3dbcf6c36c6", "e49a5bececa4ace0581d402d5b29917a"},
		"wow-6.0.3.19103_us":                  {1, 2, "", "us", "6.0.3.19103", "5911704e68e9031efddfabef036f1963", "d683173b7b20c195b0167a28e6d9c666"},
		"wow-6.0.3.19342_cn_osx":              {1, 2, "", "cn", "6.0.3.19342", "9aea7f1d7b4a4a2e4f1a9d2b0b144e9e", "ea45754ea48dd89de460de565d5c782c"},
		"wow-6.2.4.21742_us_keyservice":       {1, 4, "", "us", "6.2.4.21742", "451679f16b266632976beb8d5c922d9f", "eee453d9035886d03a1308de041de88c"},
		"wow-7.2.0.23911_two_rows":            {2, 2, "", "eu", "7.2.0.23911", "fc58e8bfcd2496d9dd00ce68067bd121", "e82a5ee4ee684631b2747d48c7ec309b"},
		"wow-8.0.1.27377_bgdl":                {1, 2, "", "us", "8.0.1.27377", "5227139c806caca0a153a6fb1f37b364", "7c6fd0de33e2563a4e425113afd40121"},
		"wow-8.0.1.28153_two_rows_same_build": {2, 2, "", "us", "8.0.1.28153", "c19c4111371a31321f0161466c32094f", "a8313217b93926f5ae4222d4dd037692"},
		"wow-8.3.7.35662_product":             {1, 2, "wow", "us", "8.3.7.35662", "01d99c975c422649fc50589978c9f90f", "245f00b65d6d6c7cc7c52bab5c9e600c"},
	} {
		builds, err := config.ParseBuildInfo(casctest.Fixture(t, filepath.Join("build-info", name+".build.info")))
		if err != nil || len(builds) != want.rows {
			t.Fatalf("%s: %d rows, %v", name, len(builds), err)
		}
		b, err := config.SelectBuild(builds, want.product)
		if err != nil || !b.Active || b.Product != want.product || b.Branch != want.branch || b.Version != want.version ||
			b.BuildKey.String() != want.b || b.CDNKey.String() != want.cdn || len(b.Tags) != want.tags {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
}

const twoProducts = "Branch!STRING:0|Active!DEC:1|Build Key!HEX:16|Product!STRING:0\n" +
	"eu|0|00000000000000000000000000000001|wow\r\n\r\n" +
	"eu|1|00000000000000000000000000000002|wow\n" +
	"us|1|00000000000000000000000000000003|wow_classic\n" +
	"us|0|00000000000000000000000000000004|d3\n"

func TestSelectBuild(t *testing.T) {
	builds, err := config.ParseBuildInfo([]byte(twoProducts))
	if err != nil {
		t.Fatal(err)
	}
	for product, want := range map[string]byte{"": 2, "wow": 2, "WOW_Classic": 3, "d3": 4, "pro": 0} {
		b, err := config.SelectBuild(builds, product)
		if b.BuildKey[15] != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", product, b.BuildKey, err)
		}
	}
}

// TestOddRows reads rows of products that are installed and of others that are not.
func TestOddRows(t *testing.T) {
	const head = "Active!DEC:1|Build Key!HEX:16|Product!STRING:0\n"
	const wow, d3 = "1|00000000000000000000000000000002|wow\n", "1||d3\n"
	for _, c := range []struct {
		text, product string
		want          byte
		err           string
	}{
		{d3 + wow, "", 2, ""},
		{d3 + wow, "wow", 2, ""},
		{d3 + wow, "d3", 0, "casc: .build.info: offset 0x2f: a row without build key"},
		{wow + "1|xyz|d3\n", "", 2, ""},
		{wow + "1|xyz|d3\n", "d3", 0, `casc: .build.info: offset 0x56: column Build Key: casc: key "xyz": 3 digits, a key has 32`},
		{wow + "1|2|3|4|5\n", "wow", 2, ""},
		{d3 + "0|00000000000000000000000000000003|d3\n", "d3", 0, "casc: .build.info: offset 0x2f: a row without build key"},
	} {
		builds, err := config.ParseBuildInfo([]byte(head + c.text))
		if err != nil {
			t.Fatal(err)
		}
		b, err := config.SelectBuild(builds, c.product)
		if err == nil && (c.err != "" || b.BuildKey[15] != c.want) || err != nil && err.Error() != c.err {
			t.Errorf("%q of %q: %v, %v", c.product, c.text, b.BuildKey, err)
		}
	}
}

func TestBuildInfoErrors(t *testing.T) {
	const head = "Active!DEC:1|Build Key!HEX:16\n"
	for text, want := range map[string]string{
		"":                  "casc: .build.info: offset 0x0: no build",
		head:                "casc: .build.info: offset 0x1e: no build",
		"Active!DEC:1\n1\n": `casc: .build.info: offset 0x0: no column Build Key in "Active!DEC:1"`,
		head + "1|\n":       "casc: .build.info: offset 0x1e: a row without build key",
		head + "1":          "casc: .build.info: offset 0x1e: a row without build key",
		head + "1|2|3\n":    "casc: .build.info: offset 0x1e: 3 cells in 2 columns",
		head + "1|xyz\n":    `casc: .build.info: offset 0x1e: column Build Key: casc: key "xyz": 3 digits, a key has 32`,
	} {
		builds, err := config.ParseBuildInfo([]byte(text))
		if err == nil {
			_, err = config.SelectBuild(builds, "")
		}
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestBuildDB(t *testing.T) {
	text := "0123456789abcdef0123456789abcdef|fedcba9876543210fedcba9876543210|Windows enUS?:Windows deDE?\n"
	builds, err := config.ParseBuildDB([]byte(text))
	if err != nil || len(builds) != 1 || !builds[0].Active || len(builds[0].Tags) != 2 ||
		builds[0].BuildKey != casctest.Key(t, text[:32]) || builds[0].CDNKey != casctest.Key(t, text[33:65]) {
		t.Errorf("%+v, %v", builds, err)
	}
	for _, bad := range []string{"", "\n", "x", text[:32] + "|x"} {
		builds, err := config.ParseBuildDB([]byte(bad))
		if err == nil {
			_, err = config.SelectBuild(builds, "")
		}
		if err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func FuzzBuildInfo(f *testing.F) {
	f.Add([]byte(twoProducts))
	f.Fuzz(func(t *testing.T, data []byte) {
		builds, err := config.ParseBuildInfo(data)
		if err == nil && len(builds) == 0 {
			t.Fatal("neither a build nor an error")
		}
		for _, b := range builds {
			if b.BuildKey.IsZero() && b.Err == nil {
				t.Fatal("a build without key")
			}
		}
		_, _ = config.ParseBuildDB(data)
		_, _ = config.Parse(data)
	})
}

// TestWordyFiles has files of a storage with words of any length: errors name a few of them, and not
// all of each.
func TestWordyFiles(t *testing.T) {
	long := strings.Repeat("w", 100_000)
	key := strings.Repeat("0", 32)
	var b strings.Builder
	b.WriteString("Branch!STRING:0|Active!DEC:1|Build Key!HEX:16|CDN Key!HEX:16|Version!STRING:0|Product!STRING:0\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "eu|%d|%s|%s|%s|%s%d\n", i%2, key, key, long[:1000], long[:1000], i)
	}
	row := func(cells string) string {
		return "Active!DEC:1|Build Key!HEX:16|CDN Key!HEX:16|Product!STRING:0\n" + cells + "\n"
	}
	for name, text := range map[string]string{
		"many products": b.String(),
		"long product":  row("1|" + key + "|" + key + "|" + long),
		"long key":      row("1|" + long + "|" + key + "|w"),
		"long active":   row(long + "|" + key + "|" + key + "|w"),
		"no columns":    long + "\n" + long + "\n",
	} {
		fsys := fstest.MapFS{".build.info": {Data: []byte(text)}, "Data/data/x": {}, "Data/config/x": {}}
		for _, product := range []string{"", "other", long} {
			_, err := casc.Open(fsys, casc.Options{Product: product})
			if err == nil || len(err.Error()) > 12<<10 {
				t.Errorf("%s: an error of %d bytes: %.300v", name, len(fmt.Sprint(err)), err)
			}
		}
	}
	for name, text := range map[string]string{"line": long, "size": "encoding-size = " + long, "keys": "archives = " + long, "name": long + " = 1 2 3"} {
		c, err := config.Read([]byte(text), write.Key([]byte(text)))
		if err == nil {
			_, keys := c.Keys("archives")
			_, ref := c.Ref("encoding")
			_, vfs := c.Ref(long)
			err = errors.Join(keys, ref, vfs)
		}
		if len(fmt.Sprint(err)) > 2<<10 {
			t.Errorf("%s: an error of %d bytes: %.300v", name, len(fmt.Sprint(err)), err)
		}
	}
}
