package worldkind

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/sample"
	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/save/savetest"
	"lorefs/internal/replace"
	"lorefs/nodes"
	"lorefs/nodes/worldtree"
)

// TestWorldSavedAgain checks that after a save whose last step failed, the next save makes up for it,
// and edits are taken again.
func TestWorldSavedAgain(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sample.Write(dir); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "world")
	s, err := Kind().Open(t.Context(), dir, &kinds.Options{CacheSize: 1 << 20, NoIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	zone := filepath.Join(dir, "x1000y1000.zgd")
	if err := s.Edit(t.Context(), kinds.EditOptions{NoBackup: true, Quality: 1, Disk: savetest.Unsynced(zone, 1)}); err != nil {
		t.Fatal(err)
	}
	tree := s.Sessions[0].(*kinds.TreeSession[worldtree.Edit]).Tree.(nodes.Mutable)
	set := func(volume string) error {
		t.Helper()
		id := nodes.Root
		for name := range strings.SplitSeq("squares/x1000y1000/017-093.json", "/") {
			e, err := tree.Lookup(t.Context(), id, name)
			if err != nil {
				t.Fatal(err)
			}
			id = e.ID
		}
		return rewrite(t.Context(), tree, id, func(text string) string {
			before, after, _ := strings.Cut(text, `"volumes":[[`)
			_, after, _ = strings.Cut(after, ",")
			return before + `"volumes":[[` + volume + "," + after
		})
	}
	save := func() (save.Report, error) {
		return s.Sessions[0].Save(t.Context(), save.How{}, func(save.Progress) {})
	}
	if err := set("77"); err != nil {
		t.Fatal(err)
	}
	if r, err := save(); !errors.Is(err, replace.ErrUnsynced) || r.Edits != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := set("78"); err == nil {
		t.Error("an edit was taken that may belong to another file after a power cut")
	}
	if _, err := save(); err != nil {
		t.Fatal(err)
	}
	if err := set("79"); err != nil {
		t.Errorf("no edit is taken: %v", err)
	}
	if r, err := save(); err != nil || r.Edits != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// rewrite writes a file anew, as a shell's > does.
func rewrite(ctx context.Context, tree nodes.Mutable, id nodes.ID, change func(text string) string) (err error) {
	text := make([]byte, 1<<20)
	n, err := tree.ReadAt(ctx, id, text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	w, err := tree.OpenWrite(ctx, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Release()) }()
	if err := w.Truncate(ctx, 0); err != nil {
		return err
	}
	if _, err := w.WriteAt(ctx, []byte(change(string(text[:n]))), 0); err != nil {
		return err
	}
	return w.Flush(ctx)
}
