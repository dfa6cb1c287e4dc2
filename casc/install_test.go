package casc_test

import (
	"path"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/keys"
)

// TestInstallForOthers checks for what CascLib needs of an install besides what this
// package reads: a download manifest with every encoded file but itself and the encoding
// file, and index files with entries or an update section.
func TestInstallForOthers(t *testing.T) {
	small := casctest.New()
	small.Put("a", []byte("a"), small.Add([]byte("a")))
	small.Root(small.Add(write.TextRoot(small.Files())))
	games := []*casctest.Game{small}
	for root := range casctest.Roots {
		g := casctest.New()
		g.Fill(t)
		casctest.Roots[root](g)
		games = append(games, g)
	}
	for _, g := range games {
		files, err := g.Install()
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range files {
			const head, leastSection = 0x28, 0x7800
			_, _, index := index.ParseIdxName(path.Base(name))
			if index && data[0x20] == 0 && data[0x21] == 0 && len(data) < head+leastSection {
				t.Errorf("%s has no entries, and %d bytes only", name, len(data))
			}
		}
		st, err := casc.Open(casctest.FS(files), casc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := st.Download(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		listed := map[keys.Key]bool{}
		for e := range m.Entries() {
			row, err := st.Encoding().FindEncoded(t.Context(), e.EKey[:])
			if err != nil || row.Size != e.Size || listed[e.EKey] {
				t.Errorf("%v of %d bytes is listed: %+v, %v", e.EKey, e.Size, row, err)
			}
			listed[e.EKey] = true
		}
		if len(m.Tags) == 0 {
			t.Error("nothing stands behind the last entry")
		}
		for _, name := range []string{"download", "encoding"} {
			ref, err := st.BuildConfig.Ref(name)
			if err != nil || ref.EKey.IsZero() || listed[ref.EKey] {
				t.Errorf("%s: %+v, %v", name, ref, err)
			}
			listed[ref.EKey] = true
		}
		stored := map[keys.Key]bool{}
		for _, s := range g.Stored {
			stored[s.EKey] = true
			if !listed[s.EKey] {
				t.Errorf("%v is not listed", s.EKey)
			}
		}
		if len(stored) != len(listed) {
			t.Errorf("%d encoded files, %d are listed", len(stored), len(listed))
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}
