package tvfs_test

import (
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/config"
	"lorefs/casc/internal/root/tvfs"
	"lorefs/casc/keys"
)

// TestRealTVFS reads real manifests, without those nested in them.
func TestRealTVFS(t *testing.T) {
	for _, name := range []string{"wow_classic_era_04ca19154f0c48b1", "wow_classic_cbd15a9f67c4d28d", "wow_dbd6a1911a9dd025"} {
		r, err := tvfs.Parse(casctest.Fixture(t, "cascette-rs/tvfs/"+name+".bin"), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := 0
		for f, err := range r.Files() {
			if err != nil || f.Name == "" || len(f.Spans) != 1 || f.Spans[0].EKey.IsZero() || f.CKey.IsZero() || strings.HasSuffix(f.Name, "/") {
				t.Fatalf("%s: %+v, %v", name, f, err)
			}
			n++
		}
		if n == 0 {
			t.Errorf("%s: no files", name)
		}
		t.Logf("%s: %d files", name, n)
	}
}

// TestRealTVFSNests finds the nested manifests of a build configuration in the manifest
// that they are nested in.
func TestRealTVFSNests(t *testing.T) {
	cfg, err := config.Parse(casctest.Fixture(t, "cascette-rs/config/wow_classic_era_build_config.txt"))
	if err != nil {
		t.Fatal(err)
	}
	loader := &refusing{}
	r, err := tvfs.Parse(casctest.Fixture(t, "cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.bin"), loader)
	if err != nil {
		t.Fatal(err)
	}
	for ref, err := range cfg.VFS() {
		if err != nil {
			t.Fatal(err)
		}
		r.Nest(ref.EKey)
	}
	nested := 0
	for f, err := range r.Files() {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name, ":") {
			nested++
		}
	}
	if nested == 0 || nested != loader.asked || len(r.Problems()) != nested {
		t.Errorf("%d nested manifests, %d were asked for, %d problems", nested, loader.asked, len(r.Problems()))
	}
}

// refusing is a loader without files.
type refusing struct{ asked int }

func (l *refusing) Content(keys.Key) ([]byte, error) { l.asked++; return nil, casc.ErrNotLocal }

func (l *refusing) Encoded([]byte) ([]byte, error) { l.asked++; return nil, casc.ErrNotLocal }
