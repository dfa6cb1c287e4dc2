package casc_test

import (
	"io"
	iofs "io/fs"
	"runtime"
	"sync"
	"testing"
	"testing/fstest"

	"lorefs/casc"
	"lorefs/casc/casctest"
)

// counting knows which of its files are open.
type counting struct {
	fstest.MapFS
	mu   sync.Mutex // guards open
	open map[*counted]string
}

type counted struct {
	iofs.File
	io.ReaderAt
	fsys *counting
}

func (c *counting) Open(name string) (iofs.File, error) {
	f, err := c.MapFS.Open(name)
	r, ok := f.(io.ReaderAt)
	if err != nil || !ok {
		return f, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := &counted{f, r, c}
	c.open[of] = name
	return of, nil
}

func (f *counted) Close() error {
	f.fsys.mu.Lock()
	defer f.fsys.mu.Unlock()
	if _, ok := f.fsys.open[f]; !ok {
		return iofs.ErrClosed
	}
	delete(f.fsys.open, f)
	return nil
}

// TestCloseAfterUpdate closes a storage while files from before an update are still in use.
// No file stays open.
func TestCloseAfterUpdate(t *testing.T) {
	for _, form := range []string{"install", "mirror"} {
		g, files := makeGame(t, "text", form)
		fsys := &counting{MapFS: casctest.FS(files), open: map[*counted]string{}}
		st, err := casc.Open(fsys, g.options(t))
		if err != nil {
			t.Fatal(err)
		}
		var held []any
		for range 3 {
			for _, x := range st.Indexes() {
				held = append(held, x)
			}
			for _, s := range g.Stored {
				if s.Absent {
					continue
				}
				c, err := st.OpenEncoded(t.Context(), s.EKey[:])
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, c)
			}
			for name, f := range fsys.MapFS {
				newer := *f
				newer.ModTime = f.ModTime.AddDate(1, 0, 0)
				fsys.MapFS[name] = &newer
			}
			if changed, err := st.Refresh(); !changed || err != nil {
				t.Fatalf("%s: %v, %v", form, changed, err)
			}
		}
		if err := st.Close(); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		for _, name := range fsys.open {
			t.Errorf("%s: %s is still open", form, name)
		}
		runtime.KeepAlive(held)
	}
}
