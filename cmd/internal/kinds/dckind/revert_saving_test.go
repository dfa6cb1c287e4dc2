package dckind_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/cmd/internal/sample"
	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
)

// TestRevertWhileSaving takes everything back while a save runs. The revert waits for the save,
// and then nothing is left that it could take back.
func TestRevertWhileSaving(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := editableSample(t, t.TempDir())
	if err := dckind.Draft(s).Apply(t.Context(), edit.Edit{Op: edit.SetFlags, Node: 1, Flags: 3}); err != nil {
		t.Fatal(err)
	}
	type result struct {
		back kinds.Reverted
		err  error
	}
	reverted, saved := make(chan result, 1), make(chan error, 1)
	var once sync.Once
	go func() {
		_, err := s.Sessions[0].Save(t.Context(), save.How{}, func(save.Progress) {
			once.Do(func() {
				go func() {
					back, err := s.Sessions[0].Revert(t.Context(), nil, true)
					reverted <- result{back, err}
				}()
				time.Sleep(50 * time.Millisecond) // the revert begins during the save
			})
		})
		saved <- err
	}()
	for range 2 {
		select {
		case err := <-saved:
			if err != nil {
				t.Error(err)
			}
		case r := <-reverted:
			if r.err != nil || len(r.back.Edits) > 0 {
				t.Errorf("took back %v, which is saved: %v", r.back.Edits, r.err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the save and the revert wait for each other")
		}
	}
	if n := s.Sessions[0].Pending(); n != 0 {
		t.Errorf("%d edits are left", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// editableSample makes the sample of a data center in dir editable.
func editableSample(t *testing.T, dir string) *kinds.Source {
	t.Helper()
	if _, err := sample.Write(dir); err != nil {
		t.Fatal(err)
	}
	return openToEdit(t, filepath.Join(dir, sample.DataCenterName))
}

// openToEdit opens a data center for edits.
func openToEdit(t *testing.T, path string) *kinds.Source {
	t.Helper()
	k, err := registry.Find(t.Context(), path, "", &kinds.Options{})
	if err != nil {
		t.Fatal(err)
	}
	opts := &kinds.Options{CacheSize: 256 << 20, NoIndex: true}
	opts.DataCenter.Keys = datacenter.DefaultKeys()
	s, err := k.Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Edit(t.Context(), kinds.EditOptions{NoBackup: true}); err != nil {
		t.Fatal(err)
	}
	return s
}
