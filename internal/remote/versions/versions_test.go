package versions_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lorefs/internal/remote"
	"lorefs/internal/remote/mirror"
	"lorefs/internal/remote/remotetest"
	"lorefs/internal/remote/versions"
)

func keyText(n byte) string { return strings.Repeat(fmt.Sprintf("%02x", n), 16) }

func key(n byte) (k remote.Key) {
	for i := range k {
		k[i] = n
	}
	return k
}

// The tables have a comment, an odd case of types, lines of Windows, regions without a build or
// without hosts, and columns that nobody needs.
var (
	versionsTable = "Region!STRING:0|BuildConfig!HEX:16|CDNConfig!hex:16|KeyRing!HEX:16|BuildId!DEC:4|VersionsName!String:0|New!String:0|ProductConfig!HEX:16\r\n" +
		"## seqn = 1234567\r\n" +
		"us|" + keyText(1) + "|" + keyText(2) + "||41|1.2.3.41|x|" + keyText(4) + "\r\n" +
		"eu|" + keyText(5) + "|" + keyText(6) + "|" + keyText(7) + "|40|1.2.3.40|x|" + keyText(4) + "\r\n" +
		"sg|" + keyText(1) + "|" + keyText(2) + "||41|1.2.3.41\r\n" +
		"kr|||||||\r\n"
	cdnsTable = "Name!STRING:0|Path!STRING:0|Hosts!STRING:0|Servers!STRING:0|ConfigPath!STRING:0\n" +
		"## seqn = 7\n" +
		"us|tpr/shared|one.example.com two.example.com|http://one.example.com/?maxhosts=4 https://two.example.com/?maxhosts=4&fallback=1 http://10.0.0.1/|tpr/configs/data\n" +
		"eu|tpr/shared|one.example.com two.example.com||\n" +
		"sg|tpr/shared|||\n"
)

// twoServices are the two services.
type twoServices struct{ tables, channels *remotetest.Server }

func newServices(t *testing.T) twoServices {
	t.Helper()
	s := twoServices{remotetest.New(t, 2), remotetest.New(t, 1)}
	s.tables.Put("v2/products/prod/versions", []byte(versionsTable))
	s.tables.Put("v2/products/prod/cdns", []byte(cdnsTable))
	s.putChannels(t)
	return s
}

// object makes an object of JSON.
type object map[string]any

// putChannels makes TACT Channels have the same product with a newer build.
func (s twoServices) putChannels(t *testing.T) {
	put := func(content object) string {
		data, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		sum := md5.Sum(data)
		name := hex.EncodeToString(sum[:])
		s.channels.Put("blue/"+name[:2]+"/"+name[2:4]+"/"+name, data)
		return name
	}
	hosts := put(object{"hosts": []object{{"host": "https://three.example.com/?maxhosts=2"}}})
	build := put(object{
		"armadilloKey": "secret", "build": object{"name": "x"}, "buildKey": keyText(11), "cdnKey": keyText(12), "keyRing": nil,
		"path": "tpr/other", "productConfig": object{"hash": keyText(13), "cdnPath": "tpr/configs/data"},
		"versionNumber": 50, "versionString": "1.2.3.50",
	})
	catalog := put(object{"name": "c", "products": []object{
		{"product": "other", "variant": "other", "infrastructure": true, "regions": []object{}, "builds": []object{}},
		{
			"product": "p", "variant": "prod", "infrastructure": false,
			"regions": []object{{"branches": []string{"cn"}, "cdns": hosts}},
			"builds":  []object{{"branches": []string{"us", "eu"}, "definition": build}},
		},
	}})
	summary, err := json.Marshal(object{"public": object{"channel": catalog}, "path": "blue/"})
	if err != nil {
		t.Fatal(err)
	}
	s.channels.Put("summary", summary)
}

func (s twoServices) options(o versions.Options) versions.Options {
	if o.Product == "" {
		o.Product = "prod"
	}
	o.Tables, o.Channels = s.tables.Hosts(), s.channels.Hosts()
	o.Times = remote.Times{Pause: time.Millisecond, MaxRetryAfter: time.Millisecond}
	return o
}

// asked counts the requests so far.
func (s twoServices) asked() (tables, channels int) {
	return len(s.tables.Requests()), len(s.channels.Requests())
}

// without returns a build without its time, to be compared.
func without(t *testing.T, b versions.Build) versions.Build {
	t.Helper()
	if b.Said.IsZero() {
		t.Errorf("nobody knows when %s was said", b.Version)
	}
	b.Said = time.Time{}
	return b
}

var (
	usBuild = versions.Build{
		Product: "prod", Region: "us", Version: "1.2.3.41", ID: "41",
		BuildConfig: key(1), CDNConfig: key(2), ProductConfig: key(4), Path: "tpr/shared", ConfigPath: "tpr/configs/data",
		Hosts: []remote.Host{{URL: "http://one.example.com", MaxHosts: 4}, {URL: "https://two.example.com", MaxHosts: 4, Fallback: true}},
	}
	euBuild = versions.Build{
		Product: "prod", Region: "eu", Version: "1.2.3.40", ID: "40",
		BuildConfig: key(5), CDNConfig: key(6), KeyRing: key(7), ProductConfig: key(4), Path: "tpr/shared",
		Hosts: []remote.Host{{URL: "http://one.example.com"}, {URL: "http://two.example.com"}},
	}
	channelBuild = versions.Build{
		Product: "prod", Region: "us", Version: "1.2.3.50", ID: "50", BuildConfig: key(11), CDNConfig: key(12), ProductConfig: key(13),
		Path: "tpr/other", ConfigPath: "tpr/configs/data", EncryptedBy: "secret",
		Hosts: []remote.Host{{URL: "https://three.example.com", MaxHosts: 2}},
	}
)

func TestFind(t *testing.T) {
	s := newServices(t)
	elsewhere := usBuild
	elsewhere.Region, elsewhere.ProductConfig = "sg", remote.Key{}
	given := usBuild
	given.CDNConfig, given.Hosts = key(9), []remote.Host{{URL: "http://127.0.0.1:8080/mirror"}}
	old := usBuild
	old.Version, old.ID, old.BuildConfig, old.CDNConfig, old.ProductConfig = "", "", key(8), key(9), remote.Key{}
	cases := map[string]struct {
		o    versions.Options
		want versions.Build
	}{
		"latest":                {versions.Options{}, usBuild},
		"region":                {versions.Options{Region: "eu"}, euBuild},
		"region without hosts":  {versions.Options{Region: "sg"}, elsewhere},
		"version":               {versions.Options{Build: "1.2.3.41"}, usBuild},
		"version of elsewhere":  {versions.Options{Build: "1.2.3.40"}, euBuild},
		"number":                {versions.Options{Region: "eu", Build: "40"}, euBuild},
		"key":                   {versions.Options{Build: strings.ToUpper(keyText(5))}, euBuild},
		"given CDN and hosts":   {versions.Options{CDN: keyText(9), Hosts: []string{"http://127.0.0.1:8080/mirror/"}}, given},
		"a build that was gone": {versions.Options{Build: keyText(8), CDN: keyText(9)}, old},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := versions.Find(t.Context(), s.options(test.o))
			if err != nil {
				t.Fatal(err)
			}
			if got := without(t, got); !reflect.DeepEqual(got, test.want) {
				t.Errorf("found %+v\nwant  %+v", got, test.want)
			}
		})
	}
	all, err := versions.List(t.Context(), s.options(versions.Options{}))
	if err != nil || len(all) != 3 || !reflect.DeepEqual(without(t, all[1]), euBuild) {
		t.Errorf("listed are %+v, %v", all, err)
	}
	if _, channels := s.asked(); channels != 0 {
		t.Errorf("%d requests for TACT Channels", channels)
	}
}

// TestNoBuild checks that the error says which builds there are.
func TestNoBuild(t *testing.T) {
	s := newServices(t)
	for name, o := range map[string]versions.Options{
		"version": {Build: "9.9.9.9"}, "key": {Build: keyText(9)}, "region": {Region: "kr"},
	} {
		_, err := versions.Find(t.Context(), s.options(o))
		missing, ok := errors.AsType[*versions.NoBuildError](err)
		if !ok || len(missing.Have) != 3 || !strings.Contains(err.Error(), "1.2.3.41 (us), 1.2.3.40 (eu)") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKept checks how many requests a second look-up needs: two for the latest build, none
// for a certain one, and none if nothing may be asked.
func TestKept(t *testing.T) {
	s := newServices(t)
	c, err := mirror.Open(t.TempDir(), mirror.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	find := func(o versions.Options) (versions.Build, int, error) {
		s.tables.Reset()
		o.Cache = c
		b, err := versions.Find(t.Context(), s.options(o))
		tables, _ := s.asked()
		return b, tables, err
	}
	if _, _, err := find(versions.Options{Offline: true}); !errors.Is(err, remote.ErrOffline) {
		t.Errorf("offline, before anything was asked: %v", err)
	}
	for name, test := range map[string]struct {
		o        versions.Options
		requests int
	}{
		"latest":          {versions.Options{}, 2},
		"version":         {versions.Options{Build: "1.2.3.41"}, 0},
		"number":          {versions.Options{Build: "41"}, 0},
		"key":             {versions.Options{Build: keyText(1)}, 0},
		"offline":         {versions.Options{Offline: true}, 0},
		"offline version": {versions.Options{Offline: true, Build: "1.2.3.41"}, 0},
	} {
		if _, _, err := find(versions.Options{}); err != nil {
			t.Fatal(err)
		}
		b, requests, err := find(test.o)
		if err != nil || requests != test.requests || !reflect.DeepEqual(without(t, b), usBuild) {
			t.Errorf("%s: %d requests, found %+v, %v", name, requests, b, err)
		}
	}
	if b, requests, err := find(versions.Options{Build: "41", CDN: keyText(9)}); err != nil || requests != 0 || b.CDNConfig != key(9) {
		t.Errorf("another CDN configuration: %d requests, %v, %v", requests, b.CDNConfig, err)
	}
	for _, o := range []versions.Options{{Offline: true, Region: "eu"}, {Offline: true, Build: "1.2.3.40"}, {Offline: true, Product: "more"}} {
		if _, requests, err := find(o); !errors.Is(err, remote.ErrOffline) || requests != 0 {
			t.Errorf("offline, %+v: %d requests, %v", o, requests, err)
		}
	}
	if _, err := versions.List(t.Context(), s.options(versions.Options{Offline: true})); !errors.Is(err, remote.ErrOffline) {
		t.Errorf("listed offline: %v", err)
	}
}

// TestHostsOfToday looks for a build that was kept long ago: its hosts are asked for again, and
// are those of then if nobody answers.
func TestHostsOfToday(t *testing.T) {
	s := newServices(t)
	c, err := mirror.Open(t.TempDir(), mirror.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	find := func(after time.Duration) (versions.Build, int) {
		t.Helper()
		s.tables.Reset()
		b, err := versions.Find(t.Context(), s.options(versions.Options{
			Build: "41", Cache: c, Now: func() time.Time { return time.Now().Add(after) },
		}))
		if err != nil {
			t.Fatal(err)
		}
		tables, _ := s.asked()
		return b, tables
	}
	find(0)
	s.tables.Put("v2/products/prod/cdns", []byte(strings.ReplaceAll(cdnsTable, "one.example", "new.example")))
	const month = 30 * 24 * time.Hour
	if b, n := find(time.Hour); n != 0 || strings.Contains(b.Hosts[0].URL, "new") {
		t.Errorf("an hour later: %d requests, %v", n, b.Hosts)
	}
	if b, n := find(month); n != 2 || !strings.Contains(b.Hosts[0].URL, "new") || b.BuildConfig != key(1) {
		t.Errorf("a month later: %d requests, %v", n, b.Hosts)
	}
	down := func(remotetest.Request) remotetest.Fault { return remotetest.Unavailable }
	s.tables.SetFault(down)
	s.channels.SetFault(down)
	if b, _ := find(3 * month); !strings.Contains(b.Hosts[0].URL, "new") {
		t.Errorf("with nobody there: %v", b.Hosts)
	}
}

// TestBadRegion reads tables that can't be read where they are about another region.
func TestBadRegion(t *testing.T) {
	s := newServices(t)
	s.tables.Put("v2/products/prod/versions", []byte(strings.ReplaceAll(versionsTable, keyText(5), "5")))
	b, err := versions.Find(t.Context(), s.options(versions.Options{}))
	if err != nil || !reflect.DeepEqual(without(t, b), usBuild) {
		t.Errorf("%+v, %v", b, err)
	}
	// TACT Channels know the region.
	if b, err := versions.Find(t.Context(), s.options(versions.Options{Region: "eu"})); err != nil || b.Version != "1.2.3.50" {
		t.Errorf("%+v, %v", b, err)
	}
}

// TestUnknownProduct asks for a product that one service does not know, and the other neither or
// does not answer.
func TestUnknownProduct(t *testing.T) {
	for fault, want := range map[remotetest.Fault]bool{remotetest.NotFound: true, remotetest.Unavailable: false} {
		s := newServices(t)
		s.channels.SetFault(func(remotetest.Request) remotetest.Fault { return fault })
		_, err := versions.Find(t.Context(), s.options(versions.Options{Product: "more"}))
		if err == nil || errors.Is(err, iofs.ErrNotExist) != want {
			t.Errorf("%v: %v", fault, err)
		}
	}
}

// TestNextService checks that TACT Channels are asked when no host has usable tables.
func TestNextService(t *testing.T) {
	for _, fault := range []remotetest.Fault{remotetest.HTML, remotetest.NotFound, remotetest.Unavailable, remotetest.Reset} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			s := newServices(t)
			var faulty atomic.Int32
			faulty.Store(1)
			s.tables.SetFault(func(r remotetest.Request) remotetest.Fault {
				if r.Host < int(faulty.Load()) {
					return fault
				}
				return remotetest.None
			})
			got, err := versions.Find(t.Context(), s.options(versions.Options{}))
			if err != nil || !reflect.DeepEqual(without(t, got), usBuild) {
				t.Errorf("with one faulty host: %+v, %v", got, err)
			}
			faulty.Store(2)
			got, err = versions.Find(t.Context(), s.options(versions.Options{}))
			if err != nil || !reflect.DeepEqual(without(t, got), channelBuild) {
				t.Errorf("by TACT Channels: %+v, %v", got, err)
			}
			if _, channels := s.asked(); channels > 5 {
				t.Errorf("%d requests for TACT Channels", channels)
			}
			_, err = versions.Find(t.Context(), s.options(versions.Options{Product: "nothing"}))
			if err == nil || !strings.Contains(err.Error(), "version service") || !strings.Contains(err.Error(), "TACT Channels") {
				t.Errorf("a product that is nowhere: %v", err)
			}
			s.channels.SetFault(func(r remotetest.Request) remotetest.Fault {
				if r.Path == "summary" {
					return remotetest.None
				}
				return remotetest.WrongBytes
			})
			if got, err := versions.Find(t.Context(), s.options(versions.Options{})); err == nil {
				t.Errorf("wrong bytes were believed: %+v", got)
			}
		})
	}
}

// TestBadTables checks that nothing which could lead elsewhere is taken from a table.
func TestBadTables(t *testing.T) {
	replace := func(old, by string) func(versionsText, cdnsText string) (string, string) {
		return func(v, c string) (string, string) {
			return strings.ReplaceAll(v, old, by), strings.ReplaceAll(c, old, by)
		}
	}
	for name, change := range map[string]func(v, c string) (string, string){
		"key":         replace(keyText(1), "../../"+keyText(1)),
		"short key":   replace(keyText(1), keyText(1)[1:]),
		"no column":   replace("CDNConfig!", "Other!"),
		"path":        replace("tpr/shared", "../shared"),
		"config path": replace("tpr/configs/data", "/etc"),
		"hosts":       replace(".example.com", ".0.0.1"),
		"no rows":     func(v, c string) (string, string) { return v, c[:strings.Index(c, "\n")+1] },
		"empty":       func(string, string) (string, string) { return "", "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServices(t)
			v, c := change(versionsTable, cdnsTable)
			s.tables.Put("v2/products/prod/versions", []byte(v))
			s.tables.Put("v2/products/prod/cdns", []byte(c))
			s.channels.SetFault(func(remotetest.Request) remotetest.Fault { return remotetest.NotFound })
			if got, err := versions.Find(t.Context(), s.options(versions.Options{})); err == nil {
				t.Errorf("found %+v", got)
			}
		})
	}
}

// TestGivenHosts checks that hosts which the user gave need nothing of a list that names
// addresses, names of a network at home, or nothing, and that no such host is asked without them.
func TestGivenHosts(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"addresses": func(c string) string { return strings.ReplaceAll(c, ".example.com", ".0.0.1") },
		"ports":     func(c string) string { return strings.ReplaceAll(c, ".example.com", ":5100") },
		"name":      func(c string) string { return strings.ReplaceAll(c, ".example.com", "") },
		"path":      func(c string) string { return strings.ReplaceAll(c, "tpr/shared", "/tpr/shared/") },
		"no hosts": func(c string) string {
			return c[:strings.Index(c, "\n")+1] + "us|tpr/shared|||tpr/configs/data\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServices(t)
			s.tables.Put("v2/products/prod/cdns", []byte(change(cdnsTable)))
			s.channels.SetFault(func(remotetest.Request) remotetest.Fault { return remotetest.NotFound })
			cache, err := mirror.Open(t.TempDir(), mirror.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer cache.Close()
			want := usBuild
			want.Hosts = []remote.Host{{URL: "http://127.0.0.1:5100"}}
			given := s.options(versions.Options{Hosts: []string{"http://127.0.0.1:5100"}, Cache: cache})
			got, err := versions.Find(t.Context(), given)
			if err != nil || !reflect.DeepEqual(without(t, got), want) {
				t.Errorf("%+v, %v", got, err)
			}
			for _, build := range []string{"", "1.2.3.41"} { // the second one is in the cache
				got, err = versions.Find(t.Context(), s.options(versions.Options{Cache: cache, Build: build}))
				if err == nil && (name != "path" || build == "") {
					t.Errorf("without hosts: %+v", got)
				}
			}
		})
	}
}

// TestOldTables finds a build by tables that lie where older servers have them.
func TestOldTables(t *testing.T) {
	for _, fault := range []remotetest.Fault{remotetest.NotFound, remotetest.Forbidden} {
		s := newServices(t)
		s.tables.Put("old/versions", []byte(versionsTable))
		s.tables.Put("old/cdns", []byte(cdnsTable))
		s.tables.SetFault(func(r remotetest.Request) remotetest.Fault {
			if strings.HasPrefix(r.Path, "v2/") {
				return fault
			}
			return remotetest.None
		})
		want := usBuild
		want.Product = "old"
		got, err := versions.Find(t.Context(), s.options(versions.Options{Product: "old"}))
		if err != nil || !reflect.DeepEqual(without(t, got), want) {
			t.Errorf("%v: %+v, %v", fault, got, err)
		}
		if tables, channels := s.asked(); tables != 4 || channels != 0 { // both hosts have no new ones
			t.Errorf("%v: %d and %d requests", fault, tables, channels)
		}
	}
}

// TestNoHosts has a service that knows a product, and not where its objects lie: that is said, also if
// the user names hosts.
func TestNoHosts(t *testing.T) {
	for _, dir := range []string{"v2/products/", ""} {
		s := newServices(t)
		s.tables.Put(dir+"some/versions", []byte(versionsTable))
		_, err := versions.Find(t.Context(), s.options(versions.Options{Product: "some", Hosts: []string{"http://127.0.0.1:1"}}))
		_, unknown := errors.AsType[*versions.NoProductError](err)
		if unknown || err == nil || !strings.Contains(err.Error(), "no table cdns") {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

// TestManyBuilds has a catalog with more builds than anybody could ask for.
func TestManyBuilds(t *testing.T) {
	s := newServices(t)
	s.tables.SetFault(func(remotetest.Request) remotetest.Fault { return remotetest.NotFound })
	put := func(text string) string {
		name := fmt.Sprintf("%x", md5.Sum([]byte(text)))
		s.channels.Put("blue/"+name[:2]+"/"+name[2:4]+"/"+name, []byte(text))
		return name
	}
	var builds []string
	for i := range 1000 {
		builds = append(builds, `{"branches": [], "definition": "`+put(fmt.Sprintf(`{"buildKey": %q, "cdnKey": %q, "path": "p", "versionNumber": %d}`, keyText(1), keyText(2), i))+`"}`)
	}
	catalog := put(`{"products": [{"variant": "prod", "builds": [` + strings.Join(builds, ",") + `]}]}`)
	s.channels.Put("summary", []byte(`{"public": {"channel": "`+catalog+`"}, "path": "blue"}`))
	if _, err := versions.Find(t.Context(), s.options(versions.Options{})); err == nil || !strings.Contains(err.Error(), "256 builds") {
		t.Error(err)
	}
	if _, channels := s.asked(); channels > 300 {
		t.Errorf("%d requests", channels)
	}
}

func TestBadOptions(t *testing.T) {
	s := newServices(t)
	for _, o := range []versions.Options{
		{Product: "a/b"},
		{Product: "wow!"},
		{Region: "us.example.com/"},
		{CDN: "12"},
		{Hosts: []string{"ftp://x"}},
	} {
		if got, err := versions.Find(t.Context(), s.options(o)); err == nil {
			t.Errorf("%+v: found %+v", o, got)
		}
		if _, err := versions.List(t.Context(), s.options(o)); err == nil {
			t.Errorf("%+v: listed", o)
		}
	}
	if tables, channels := s.asked(); tables+channels != 0 {
		t.Errorf("%d requests", tables+channels)
	}
}

func TestKeyOfProduct(t *testing.T) {
	for text, want := range map[string]string{
		`{"all":{"config":{"decryption_key_name":"sc1Dev","x":[1]}},"enus":{}}`: "sc1Dev",
		`{"all":{"config":{}}}`: "",
		`{}`:                    "",
	} {
		if got, err := versions.KeyOfProduct([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if _, err := versions.KeyOfProduct([]byte("<html>")); err == nil {
		t.Error("a page was taken")
	}
}
