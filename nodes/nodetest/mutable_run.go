package nodetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"lorefs/nodes"
)

// Edits says which edits a tree accepts.
type Edits struct {
	// Dir is the path of the directory to use; if empty, it is the root.
	Dir []string
	// Files has two names that files can have, Dirs two that directories can have.
	Files, Dirs [2]string
	// Valid has two contents that both files can hold. The tree shows them as they are, or as
	// Shown returns them if that is not nil.
	Valid [2]string
	Shown func(content string) string
	// Invalid is a content that neither file can hold; if empty, there is none. Kept says that a
	// file shows it nevertheless.
	Invalid string
	Kept    bool
	// Flat says that Dir can't have directories.
	Flat bool
}

// RunMutable checks that the trees that open returns do what [nodes.Mutable] promises. Each
// check gets a tree of its own.
func RunMutable(t *testing.T, open func(t *testing.T) nodes.Mutable, e Edits) {
	t.Helper()
	if e.Shown == nil {
		e.Shown = func(content string) string { return content }
	}
	for name, check := range map[string]func(*edited){
		"create": (*edited).create, "mkdir": (*edited).mkdir, "remove": (*edited).remove,
		"rename": (*edited).rename, "replace": (*edited).replace, "exchange": (*edited).exchange, "into itself": (*edited).intoItself,
		"write": (*edited).write, "gap": (*edited).gap, "shell": (*edited).shell, "writers": (*edited).writers,
		"invalid": (*edited).invalid, "truncate alone": (*edited).truncateAlone, "removed": (*edited).removed, "cursors": (*edited).cursors,
		"times": (*edited).times, "unknown": (*edited).unknown, "concurrent": (*edited).concurrent,
	} {
		t.Run(name, func(t *testing.T) {
			if e.Flat && needsDirs[name] {
				t.Skip("there are no directories")
			}
			d := &edited{T: t, Edits: e, tree: open(t), dir: nodes.Root}
			d.tree.Watch(d.told)
			for _, name := range e.Dir {
				dir, err := d.tree.Lookup(t.Context(), d.dir, name)
				d.must(err)
				d.dir = dir.ID
			}
			check(d)
			d.must(d.tree.Sync(t.Context()))
		})
	}
}

// needsDirs has the checks that need directories.
var needsDirs = map[string]bool{"mkdir": true, "into itself": true, "cursors": true}

// edited is the tree of one check.
type edited struct {
	*testing.T
	Edits
	tree nodes.Mutable
	dir  nodes.ID

	mu      sync.Mutex
	changes []nodes.Change
}

func (d *edited) told(c nodes.Change) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changes = append(d.changes, c)
}

// was reports whether a change of a node's content was reported.
func (d *edited) was(id nodes.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.changes {
		if c.ID == id {
			return true
		}
	}
	return false
}

func (d *edited) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *edited) want(what string, err, want error) {
	d.Helper()
	if !errors.Is(err, want) || (want == nil && err != nil) {
		d.Errorf("%s: %v, want %v", what, err, want)
	}
}

func (d *edited) file(name, content string) nodes.Entry {
	d.Helper()
	e, err := d.tree.Create(d.Context(), d.dir, name)
	d.must(err)
	d.put(e.ID, content)
	return e
}

func (d *edited) mkdirAt(dir nodes.ID, name string) nodes.Entry {
	d.Helper()
	e, err := d.tree.Mkdir(d.Context(), dir, name)
	d.must(err)
	return e
}

func (d *edited) writer(id nodes.ID) nodes.Writer {
	d.Helper()
	w, err := d.tree.OpenWrite(d.Context(), id)
	d.must(err)
	return w
}

// release releases a writer. It is for defer.
func (d *edited) release(w nodes.Writer) {
	d.Helper()
	d.must(w.Release())
}

// put writes a file as > does in a shell.
func (d *edited) put(id nodes.ID, content string) {
	d.Helper()
	w := d.writer(id)
	defer d.release(w)
	d.must(w.Truncate(d.Context(), 0))
	_, err := w.WriteAt(d.Context(), []byte(content), 0)
	d.must(err)
	d.must(w.Flush(d.Context()))
}

// has checks the size and the bytes of a file.
func (d *edited) has(id nodes.ID, want string) {
	d.Helper()
	got, err := ReadFile(d.Context(), d.tree, id)
	if err != nil || string(got) != want {
		d.Errorf("node %d holds %q, %v; want %q", id, got, err, want)
	}
}

// names checks which node has a name in a directory, by Lookup and by listing; 0 means none.
func (d *edited) names(dir nodes.ID, name string, want nodes.ID) {
	d.Helper()
	e, err := d.tree.Lookup(d.Context(), dir, name)
	if want == 0 {
		d.want("Lookup of "+name, err, nodes.ErrNotExist)
	} else if err != nil || e.ID != want || e.Name != name {
		d.Errorf("%s is %+v, %v; want node %d", name, e, err, want)
	}
	listed := nodes.ID(0)
	entries, err := list(d.Context(), d.tree, dir)
	d.must(err)
	for _, l := range entries {
		if l.Name == name {
			listed = l.ID
		}
	}
	if listed != want {
		d.Errorf("%s is listed as node %d, want %d", name, listed, want)
	}
}

func (d *edited) isRemoved(id nodes.ID, want bool) {
	d.Helper()
	attr, err := d.tree.Attr(d.Context(), id)
	if err != nil || attr.Removed != want {
		d.Errorf("node %d = %+v, %v; want Removed %v", id, attr, err, want)
	}
}

func (d *edited) create() {
	e, err := d.tree.Create(d.Context(), d.dir, d.Files[0])
	d.must(err)
	if e.Name != d.Files[0] || e.Kind != nodes.File || e.Size != 0 || !e.Writable || e.ID <= nodes.Root {
		d.Errorf("Create = %+v", e)
	}
	d.names(d.dir, d.Files[0], e.ID)
	_, err = d.tree.Create(d.Context(), d.dir, d.Files[0])
	d.want("Create of what is there", err, nodes.ErrExist)
	_, err = d.tree.Mkdir(d.Context(), d.dir, d.Files[0])
	d.want("Mkdir of what is there", err, nodes.ErrExist)
	_, err = d.tree.Create(d.Context(), e.ID, d.Files[1])
	d.want("Create in a file", err, nodes.ErrNotDir)
}

func (d *edited) mkdir() {
	e := d.mkdirAt(d.dir, d.Dirs[0])
	if e.Kind != nodes.Dir || !e.Writable {
		d.Errorf("Mkdir = %+v", e)
	}
	d.names(d.dir, d.Dirs[0], e.ID)
	if entries, err := list(d.Context(), d.tree, e.ID); err != nil || len(entries) != 0 {
		d.Errorf("a new directory has %v, %v", entries, err)
	}
	_, err := d.tree.OpenWrite(d.Context(), e.ID)
	d.want("OpenWrite of a directory", err, nodes.ErrIsDir)
}

func (d *edited) remove() {
	ctx, f := d.Context(), d.file(d.Files[0], d.Valid[0])
	d.want("Remove of a file as a directory", d.tree.Remove(ctx, d.dir, d.Files[0], nodes.Dir), nodes.ErrNotDir)
	if !d.Flat {
		d.removeDir()
	}
	d.must(d.tree.Remove(ctx, d.dir, d.Files[0], nodes.File))
	d.want("Remove of what has gone", d.tree.Remove(ctx, d.dir, d.Files[0], nodes.File), nodes.ErrNotExist)
	d.names(d.dir, d.Files[0], 0)
	d.isRemoved(f.ID, true)
}

func (d *edited) removeDir() {
	ctx, dir := d.Context(), d.mkdirAt(d.dir, d.Dirs[0])
	d.want("Remove of a directory as a file", d.tree.Remove(ctx, d.dir, d.Dirs[0], nodes.File), nodes.ErrIsDir)
	in, err := d.tree.Mkdir(ctx, dir.ID, d.Dirs[1])
	d.must(err)
	d.want("Remove of what is not empty", d.tree.Remove(ctx, d.dir, d.Dirs[0], nodes.Dir), nodes.ErrNotEmpty)
	d.must(d.tree.Remove(ctx, dir.ID, d.Dirs[1], nodes.Dir))
	d.must(d.tree.Remove(ctx, d.dir, d.Dirs[0], nodes.Dir))
	d.names(d.dir, d.Dirs[0], 0)
	for _, id := range []nodes.ID{dir.ID, in.ID} {
		d.isRemoved(id, true)
	}
	_, err = d.tree.Create(ctx, dir.ID, d.Files[0])
	d.want("Create in a directory that has gone", err, nodes.ErrNotExist)
}

func (d *edited) rename() {
	ctx, f := d.Context(), d.file(d.Files[0], d.Valid[0])
	d.must(d.tree.Rename(ctx, d.dir, d.Files[0], d.dir, d.Files[1], nodes.RenameKeep))
	d.names(d.dir, d.Files[0], 0)
	d.names(d.dir, d.Files[1], f.ID)
	if !d.Flat {
		d.renameInto(f)
	}
	d.has(f.ID, d.Shown(d.Valid[0]))
	err := d.tree.Rename(ctx, d.dir, d.Files[0], d.dir, d.Files[1], nodes.RenameReplace)
	d.want("Rename of what has gone", err, nodes.ErrNotExist)
}

// renameInto renames a file into a directory, and then that directory.
func (d *edited) renameInto(f nodes.Entry) {
	ctx, dir := d.Context(), d.mkdirAt(d.dir, d.Dirs[0])
	d.must(d.tree.Rename(ctx, d.dir, d.Files[1], dir.ID, d.Files[0], nodes.RenameReplace))
	d.names(dir.ID, d.Files[0], f.ID)
	d.must(d.tree.Rename(ctx, d.dir, d.Dirs[0], d.dir, d.Dirs[1], nodes.RenameReplace))
	d.names(d.dir, d.Dirs[1], dir.ID)
	d.names(dir.ID, d.Files[0], f.ID)
}

func (d *edited) replace() {
	f, g := d.file(d.Files[0], d.Valid[0]), d.file(d.Files[1], d.Valid[1])
	rename := func(from, to string, mode nodes.RenameMode) error {
		return d.tree.Rename(d.Context(), d.dir, from, d.dir, to, mode)
	}
	d.want("Rename that must not replace", rename(d.Files[0], d.Files[1], nodes.RenameKeep), nodes.ErrExist)
	if !d.Flat {
		d.replaceDir(rename)
	}
	d.must(rename(d.Files[0], d.Files[1], nodes.RenameReplace))
	d.names(d.dir, d.Files[0], 0)
	d.names(d.dir, d.Files[1], f.ID)
	d.has(f.ID, d.Shown(d.Valid[0]))
	d.has(g.ID, d.Shown(d.Valid[1]))
	d.isRemoved(g.ID, true)
}

// replaceDir needs a file at the first name.
func (d *edited) replaceDir(rename func(from, to string, mode nodes.RenameMode) error) {
	dir, full := d.mkdirAt(d.dir, d.Dirs[0]), d.mkdirAt(d.dir, d.Dirs[1])
	d.mkdirAt(full.ID, d.Dirs[0])
	d.want("Rename of a file over a directory", rename(d.Files[0], d.Dirs[0], nodes.RenameReplace), nodes.ErrIsDir)
	d.want("Rename of a directory over a file", rename(d.Dirs[0], d.Files[0], nodes.RenameReplace), nodes.ErrNotDir)
	d.want("Rename over what is not empty", rename(d.Dirs[0], d.Dirs[1], nodes.RenameReplace), nodes.ErrNotEmpty)
	d.must(rename(d.Dirs[1], d.Dirs[0], nodes.RenameReplace))
	d.names(d.dir, d.Dirs[0], full.ID)
	d.isRemoved(dir.ID, true)
	d.must(rename(d.Dirs[0], d.Dirs[0], nodes.RenameReplace)) // does nothing
	d.names(d.dir, d.Dirs[0], full.ID)
}

func (d *edited) exchange() {
	ctx, f, g := d.Context(), d.file(d.Files[0], d.Valid[0]), d.file(d.Files[1], d.Valid[1])
	d.must(d.tree.Rename(ctx, d.dir, d.Files[0], d.dir, d.Files[1], nodes.RenameExchange))
	d.names(d.dir, d.Files[0], g.ID)
	d.names(d.dir, d.Files[1], f.ID)
	d.isRemoved(f.ID, false)
	d.isRemoved(g.ID, false)
	d.must(d.tree.Remove(ctx, d.dir, d.Files[1], nodes.File))
	err := d.tree.Rename(ctx, d.dir, d.Files[0], d.dir, d.Files[1], nodes.RenameExchange)
	d.want("Rename that exchanges with nothing", err, nodes.ErrNotExist)
}

func (d *edited) intoItself() {
	dir := d.mkdirAt(d.dir, d.Dirs[0])
	in := d.mkdirAt(dir.ID, d.Dirs[0])
	err := d.tree.Rename(d.Context(), d.dir, d.Dirs[0], in.ID, d.Dirs[1], nodes.RenameReplace)
	d.want("Rename of a directory into itself", err, nodes.ErrInvalid)
	d.names(d.dir, d.Dirs[0], dir.ID)
}

func (d *edited) write() {
	f := d.file(d.Files[0], d.Valid[0])
	d.has(f.ID, d.Shown(d.Valid[0]))
	before, err := d.tree.Attr(d.Context(), f.ID)
	d.must(err)
	w := d.writer(f.ID)
	d.must(w.Truncate(d.Context(), 0))
	d.has(f.ID, "") // visible at once
	_, err = w.WriteAt(d.Context(), []byte(d.Valid[1]), 0)
	d.must(err)
	d.has(f.ID, d.Valid[1])
	d.must(w.Sync(d.Context()))
	d.has(f.ID, d.Shown(d.Valid[1]))
	d.must(w.Release())
	d.has(f.ID, d.Shown(d.Valid[1]))
	if after, err := d.tree.Attr(d.Context(), f.ID); err != nil || after.ModTime.Before(before.ModTime) {
		d.Errorf("the time went from %v to %v, %v", before.ModTime, after.ModTime, err)
	}
}

// gap writes the end before the beginning.
func (d *edited) gap() {
	f := d.file(d.Files[0], d.Valid[0])
	w := d.writer(f.ID)
	defer d.release(w)
	d.must(w.Truncate(d.Context(), 0))
	half := len(d.Valid[1]) / 2
	if _, err := w.WriteAt(d.Context(), []byte(d.Valid[1][half:]), int64(half)); err != nil {
		d.want("WriteAt behind the end", err, nodes.ErrInvalid)
		return // the tree may refuse the write, if it is already sure that no value begins so
	}
	d.has(f.ID, string(make([]byte, half))+d.Valid[1][half:])
	_, err := w.WriteAt(d.Context(), []byte(d.Valid[1][:half]), 0)
	d.must(err)
	d.must(w.Flush(d.Context()))
	d.has(f.ID, d.Shown(d.Valid[1]))
}

// shell does what sh -c 'echo x > f' does: it flushes between truncating and writing.
func (d *edited) shell() {
	f := d.file(d.Files[0], d.Valid[0])
	w := d.writer(f.ID)
	d.must(w.Truncate(d.Context(), 0))
	d.must(w.Flush(d.Context()))
	_, err := w.WriteAt(d.Context(), []byte(d.Valid[1]), 0)
	d.must(err)
	d.must(w.Flush(d.Context()))
	d.must(w.Release())
	d.has(f.ID, d.Shown(d.Valid[1]))
}

func (d *edited) writers() {
	f := d.file(d.Files[0], d.Valid[0])
	a, b := d.writer(f.ID), d.writer(f.ID)
	d.must(a.Truncate(d.Context(), 0))
	d.must(b.Release()) // must not settle the text that a has begun
	_, err := a.WriteAt(d.Context(), []byte(d.Valid[1]), 0)
	d.must(err)
	d.must(a.Flush(d.Context()))
	d.must(a.Release())
	d.has(f.ID, d.Shown(d.Valid[1]))
}

func (d *edited) invalid() {
	if d.Invalid == "" {
		d.Skip("everything is valid")
	}
	f := d.file(d.Files[0], d.Valid[0])
	for _, end := range []func(nodes.Writer) error{
		func(w nodes.Writer) error { return w.Flush(d.Context()) },
		func(w nodes.Writer) error { return w.Sync(d.Context()) },
		func(nodes.Writer) error { return nil }, // Release alone
	} {
		w := d.writer(f.ID)
		d.must(w.Truncate(d.Context(), 0))
		_, err := w.WriteAt(d.Context(), []byte(d.Invalid), 0)
		if err == nil {
			err = end(w)
		}
		d.want("no value", cmp.Or(err, w.Release()), nodes.ErrInvalid)
		if d.Kept {
			d.has(f.ID, d.Invalid)
			d.put(f.ID, d.Valid[0])
		}
		d.has(f.ID, d.Shown(d.Valid[0]))
	}
	if !d.was(f.ID) {
		d.Error("nobody was told that the file is as it was before")
	}
}

// truncateAlone does what truncate(2) of a path does. Its caller waits for the result, so an
// empty write makes Flush check the content.
func (d *edited) truncateAlone() {
	f := d.file(d.Files[0], d.Valid[0])
	size := int64(len(d.Shown(d.Valid[0])))
	w := d.writer(f.ID)
	d.must(w.Truncate(d.Context(), size))
	_, err := w.WriteAt(d.Context(), nil, size)
	d.must(err)
	d.must(w.Flush(d.Context()))
	d.must(w.Release())
	d.has(f.ID, d.Shown(d.Valid[0]))
}

// removed uses a file that was removed while it was open.
func (d *edited) removed() {
	ctx, f := d.Context(), d.file(d.Files[0], d.Valid[0])
	w := d.writer(f.ID)
	d.must(d.tree.Remove(ctx, d.dir, d.Files[0], nodes.File))
	g := d.file(d.Files[0], d.Valid[1])
	if g.ID == f.ID {
		d.Errorf("the number %d is given twice", g.ID)
	}
	d.must(w.Truncate(ctx, 0))
	_, err := w.WriteAt(ctx, []byte(d.Valid[1]), 0)
	d.must(err)
	d.must(w.Flush(ctx))
	if got, err := ReadFile(ctx, d.tree, f.ID); err != nil || (string(got) != d.Valid[1] && string(got) != d.Shown(d.Valid[1])) {
		d.Errorf("the removed file holds %q, %v", got, err)
	}
	d.must(w.Release())
	d.isRemoved(f.ID, true)
	d.tree.Forget(f.ID)
	d.tree.Forget(g.ID) // only a hint: the file still exists
	d.has(g.ID, d.Shown(d.Valid[1]))
}

// cursors continues a listing after the entries that it has shown were removed.
func (d *edited) cursors() {
	dir := d.mkdirAt(d.dir, d.Dirs[0])
	d.mkdirAt(dir.ID, d.Dirs[0])
	second := d.mkdirAt(dir.ID, d.Dirs[1])
	entries, err := list(d.Context(), d.tree, dir.ID)
	d.must(err)
	if len(entries) != 2 {
		d.Fatalf("listed %+v", entries)
	}
	d.must(d.tree.Remove(d.Context(), dir.ID, d.Dirs[0], nodes.Dir))
	n := 0
	for e, err := range d.tree.ReadDir(d.Context(), dir.ID, entries[0].Next) {
		if n++; err != nil || e.ID != second.ID {
			d.Errorf("behind a removed entry: %+v, %v", e, err)
		}
	}
	if n != 1 {
		d.Errorf("%d entries behind a removed one, want 1", n)
	}
}

func (d *edited) times() {
	f := d.file(d.Files[0], d.Valid[0])
	when := time.Unix(1_000_000_000, 0)
	d.must(d.tree.SetModTime(d.Context(), f.ID, when))
	if attr, err := d.tree.Attr(d.Context(), f.ID); err != nil || !attr.ModTime.Equal(when) {
		d.Errorf("the time is %v, %v; want %v", attr.ModTime, err, when)
	}
	e, err := d.tree.Lookup(d.Context(), d.dir, d.Files[0])
	if err != nil || !e.ModTime.Equal(when) {
		d.Errorf("the entry's time is %v, %v; want %v", e.ModTime, err, when)
	}
}

func (d *edited) unknown() {
	ctx, id := d.Context(), nodes.ID(1<<50)
	_, create := d.tree.Create(ctx, id, d.Files[0])
	_, write := d.tree.OpenWrite(ctx, id)
	for what, err := range map[string]error{
		"Create": create, "OpenWrite": write, "SetModTime": d.tree.SetModTime(ctx, id, time.Now()),
		"Remove": d.tree.Remove(ctx, id, d.Files[0], nodes.File),
		"Rename": d.tree.Rename(ctx, id, d.Files[0], d.dir, d.Files[0], nodes.RenameReplace),
	} {
		d.want(what+" of an unknown number", err, nodes.ErrNotExist)
	}
	d.tree.Forget(id)
}

// concurrent edits a few names from many goroutines, for the race detector. Any error of the
// contract is allowed.
func (d *edited) concurrent() {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range 20 {
				if err := d.step(context.Background(), w+i); err != nil && !expected(err) {
					d.Errorf("step %d: %v", i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, e := range mustList(d.T, d.tree, d.dir) {
		if e.Kind == nodes.File {
			if _, err := ReadFile(d.Context(), d.tree, e.ID); err != nil {
				d.Errorf("%s: %v", e.Name, err)
			}
		}
	}
}

func mustList(t *testing.T, tree nodes.Tree, dir nodes.ID) []nodes.Entry {
	t.Helper()
	entries, err := list(t.Context(), tree, dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func expected(err error) bool {
	return errors.Is(err, nodes.ErrExist) || errors.Is(err, nodes.ErrNotExist) || errors.Is(err, nodes.ErrInvalid)
}

func (d *edited) step(ctx context.Context, i int) error {
	name, other := d.Files[i%2], d.Files[(i+1)%2]
	switch i % 4 {
	case 0:
		_, err := d.tree.Create(ctx, d.dir, name)
		return err
	case 1:
		return d.tree.Rename(ctx, d.dir, name, d.dir, other, nodes.RenameReplace)
	case 2:
		return d.tree.Remove(ctx, d.dir, name, nodes.File)
	}
	e, err := d.tree.Lookup(ctx, d.dir, name)
	if err != nil {
		return err
	}
	w, err := d.tree.OpenWrite(ctx, e.ID)
	if err != nil {
		return err
	}
	defer d.release(w)
	if _, err = w.WriteAt(ctx, []byte(d.Valid[i/4%2]), 0); err == nil {
		err = w.Flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
