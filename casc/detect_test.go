package casc_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/config"
)

// writeDir writes a storage to a folder of the system.
func writeDir(t *testing.T, files write.Files) string {
	t.Helper()
	dir := t.TempDir()
	if err := files.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDetect(t *testing.T) {
	for form := range casctest.Builds {
		_, files := makeGame(t, "text", form)
		dir := writeDir(t, files)
		if is, err := casc.Detect(dir); !is || err != nil {
			t.Errorf("%s: %v, %v", form, is, err)
		}
		if form != "install" {
			continue
		}
		for sub, want := range map[string]bool{"Data": true, "Data/data": false, "Data/config": false} {
			if is, err := casc.Detect(filepath.Join(dir, sub)); is != want || err != nil {
				t.Errorf("%s: %v, %v", sub, is, err)
			}
		}
		if err := os.Remove(filepath.Join(dir, ".build.info")); err != nil {
			t.Fatal(err)
		}
		if is, err := casc.Detect(dir); !is || err != nil {
			t.Errorf("without .build.info: %v, %v", is, err)
		}
	}
	for name, files := range map[string]write.Files{
		"nothing":              {},
		"other files":          {"config/ab.json": nil, "data/x.txt": nil},
		"no archives":          {"config/ab/cd/x": nil, "data/words/x": nil},
		"archives, no configs": {"config/words/x": nil, "data/0000000001.idx": nil},
		"no data":              {"config/ab/cd/x": nil},
		"long names":           {"config/abc/x": nil, "data/abc/x": nil},
	} {
		if is, err := casc.Detect(writeDir(t, files)); is || err != nil {
			t.Errorf("%s: %v, %v", name, is, err)
		}
	}
	if _, err := casc.Detect(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// TestProducts opens a folder of several products.
func TestProducts(t *testing.T) {
	_, files := makeGame(t, "text", "install")
	head, row, _ := strings.Cut(string(files[".build.info"]), "\n")
	row = strings.TrimSuffix(row, "\n")
	files[".build.info"] = []byte(head + "\n" + row + "one\n" + strings.Replace(row, "|1|", "|0|", 1) + "two\n" + row + "three\n")
	dir := writeDir(t, files)
	for product, want := range map[string]string{"": "one", "Three": "three", "two": "two"} {
		var log bytes.Buffer
		st, err := casc.OpenPath(dir, casc.Options{Product: product, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if st.Build.Product != want || strings.Contains(log.String(), `installed="one, three"`) != (product == "") {
			t.Errorf("%q: %q is open, %s", product, st.Build.Product, log.String())
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err := casc.OpenPath(dir, casc.Options{Product: "four"})
	e, ok := errors.AsType[*config.ProductError](err)
	if !ok || e.Product != "four" || strings.Join(e.Installed, " ") != "one two three" {
		t.Errorf("%v", err)
	}
}

// TestModTime looks at the time of the build, which is not that of .build.info.
func TestModTime(t *testing.T) {
	_, files := makeGame(t, "text", "install")
	dir, when := writeDir(t, files), time.Unix(1600000000, 0)
	st, err := casc.OpenPath(dir, casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	name := filepath.Join(dir, "Data", config.Path("config", st.Build.BuildKey))
	if err := os.Chtimes(name, when, when); err != nil {
		t.Fatal(err)
	}
	if got, err := st.ModTime(); !got.Equal(when) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// TestInactiveProduct asks for a product that was removed: its row is left, and is not active.
func TestInactiveProduct(t *testing.T) {
	_, files := makeGame(t, "text", "install")
	head, row, _ := strings.Cut(string(files[".build.info"]), "\n")
	row = strings.TrimSuffix(row, "\n")
	gone := strings.Split(strings.Replace(row, "|1|", "|0|", 1), "|")
	for i, cell := range gone {
		if len(cell) == 32 {
			gone[i] = strings.Repeat("0", 31) + "1"
		}
	}
	files[".build.info"] = []byte(head + "\n" + row + "one\n" + strings.Join(gone, "|") + "two\n")
	_, err := casc.OpenPath(writeDir(t, files), casc.Options{Product: "two"})
	e, ok := errors.AsType[*config.NoConfigError](err)
	if !ok || !e.Inactive || len(e.Builds) != 1 || !strings.Contains(err.Error(), `product "two", which is not active: `) {
		t.Errorf("%v", err)
	}
}

// TestVersionsFile opens an install by a table "versions", as CDNs have it, in place of .build.info.
func TestVersionsFile(t *testing.T) {
	_, files := makeGame(t, "text", "install")
	made, err := casc.OpenPath(writeDir(t, files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	delete(files, ".build.info")
	files["versions"] = []byte("Region!STRING:0|BuildConfig!HEX:16|CDNConfig!HEX:16|KeyRing!HEX:16|BuildId!DEC:4|VersionsName!String:0\n" +
		"## seqn = 1\nus|" + made.Build.BuildKey.String() + "|" + made.Build.CDNKey.String() + "||7|1.2.3.7\n")
	dir := writeDir(t, files)
	st, err := casc.OpenPath(dir, casc.Options{BuildFile: casc.BuildFileOf(dir, filepath.Join(dir, "versions"))})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if b := &st.Build; b.Branch != "us" || b.Version != "1.2.3.7" || !b.Active {
		t.Errorf("%+v", b)
	}
	if name := casc.BuildFileOf(dir, filepath.Join(dir, ".build.info")); name != "" {
		t.Errorf("the usual file is %q", name)
	}
}
