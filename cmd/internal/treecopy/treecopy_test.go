package treecopy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/cmd/internal/treecopy"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

var testTime = time.Unix(1_600_000_000, 0)

// sample returns some directories, and a file of several reads.
func sample() (nodes.Tree, map[string]string) {
	files := map[string]string{"top": "t", "a/empty": "", "a/b/large": strings.Repeat("0123456789", 300_000)}
	for i := range 200 {
		files[fmt.Sprintf("many/%03d", i)] = fmt.Sprint("file ", i)
	}
	return nodetest.MemFiles(testTime, files), files
}

func root() nodes.Entry { return nodes.Entry{ID: nodes.Root, Kind: nodes.Dir, ModTime: testTime} }

// onDisk reads all files below a folder.
func onDisk(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, relErr := filepath.Rel(dir, path)
		got[filepath.ToSlash(name)] = string(b)
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if g, ok := got[name]; !ok || g != text {
			t.Errorf("%s: there is %v, %d bytes, want %d", name, ok, len(g), len(text))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

func TestCopy(t *testing.T) {
	tree, files := sample()
	to := filepath.Join(t.TempDir(), "new", "folder")
	var last int64
	r, err := treecopy.Copy(t.Context(), tree, root(), to, treecopy.Options{Progress: func(n, _ int64) { last = n }})
	if err != nil || r.Files != int64(len(files)) || r.Dirs != 3 || last != r.Files || r.Left() != 0 {
		t.Errorf("%+v, %d, %v", r, last, err)
	}
	same(t, onDisk(t, to), files)
	if info, err := os.Stat(filepath.Join(to, "a", "empty")); err != nil || !info.ModTime().Equal(testTime) {
		t.Errorf("%v, %v", info, err)
	}
}

func TestEmptyDirectory(t *testing.T) {
	var b nodetest.Builder
	b.Dir(nodes.Root, "hollow")
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if _, err := treecopy.Copy(t.Context(), tree, root(), to, treecopy.Options{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(to, "hollow")); err != nil || !info.IsDir() {
		t.Errorf("an empty directory: %v", err)
	}
}

func TestCopyFile(t *testing.T) {
	tree, files := sample()
	e, err := tree.Lookup(t.Context(), nodes.Root, "top")
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if _, err := treecopy.Copy(t.Context(), tree, e, to, treecopy.Options{}); err != nil {
		t.Fatal(err)
	}
	same(t, onDisk(t, to), map[string]string{"top": files["top"]})
}

// TestThereAlready checks that existing files are not overwritten unless asked for.
func TestThereAlready(t *testing.T) {
	tree, files := sample()
	to := t.TempDir()
	if err := os.WriteFile(filepath.Join(to, "top"), []byte("mine, and longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	var failed []string
	o := treecopy.Options{Failed: func(path string, _ treecopy.Reason, err error) error {
		if !errors.Is(err, os.ErrExist) {
			t.Error(err)
		}
		failed = append(failed, path)
		return nil
	}}
	r, err := treecopy.Copy(t.Context(), tree, root(), to, o)
	if err != nil || r.Left() != 1 || !slices.Equal(failed, []string{"top"}) {
		t.Errorf("%+v, %v, %v", r, failed, err)
	}
	if got := onDisk(t, to)["top"]; got != "mine, and longer" {
		t.Errorf("it holds %q now", got)
	}
	if _, err := treecopy.Copy(t.Context(), tree, root(), to, treecopy.Options{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	same(t, onDisk(t, to), files)
}

// flawed is a tree with files that can't be read, or not to their end.
type flawed struct {
	nodes.Tree
	fail func(off int64, text string) (n int, err error)
}

var errFlaw = errors.New("flaw")

func (f flawed) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	n, err := f.Tree.ReadAt(ctx, id, p, off)
	if limit, flaw := f.fail(off, string(p[:n])); flaw != nil {
		return limit, flaw
	}
	return n, err
}

func TestUnreadable(t *testing.T) {
	for name, flaw := range map[string]error{"damaged": errFlaw, "short": io.EOF, "wrapped EOF": fmt.Errorf("source: %w", io.EOF)} {
		t.Run(name, func(t *testing.T) {
			tree, files := sample()
			bad := flawed{tree, func(off int64, text string) (int, error) {
				if off > 0 && len(text) > 100 {
					return 10, flaw
				}
				return 0, nil
			}}
			to := t.TempDir()
			var failed []string
			r, err := treecopy.Copy(t.Context(), bad, root(), to, treecopy.Options{Failed: func(path string, _ treecopy.Reason, _ error) error {
				failed = append(failed, path)
				return nil
			}})
			if err != nil || r.Left() != 1 || !slices.Equal(failed, []string{"a/b/large"}) {
				t.Errorf("%+v, %v, %v", r, failed, err)
			}
			delete(files, "a/b/large") // and nothing partial is left
			same(t, onDisk(t, to), files)
		})
	}
}

func TestFirstErrorEnds(t *testing.T) {
	tree, _ := sample()
	bad := flawed{tree, func(int64, string) (int, error) { return 0, errFlaw }}
	r, err := treecopy.Copy(t.Context(), bad, root(), t.TempDir(), treecopy.Options{Workers: 1})
	if !errors.Is(err, errFlaw) || r.Left() == 0 || r.Left() > 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCancelled(t *testing.T) {
	tree, _ := sample()
	ctx, cancel := context.WithCancel(t.Context())
	to := t.TempDir()
	_, err := treecopy.Copy(ctx, tree, root(), to, treecopy.Options{Workers: 1, Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n := len(onDisk(t, to)); n > 2 {
		t.Errorf("%d files were copied all the same", n)
	}
}

// TestStaysInside checks that a link in the folder does not lead writes elsewhere.
func TestStaysInside(t *testing.T) {
	tree, _ := sample()
	outside, to := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(to, "many")); err != nil {
		t.Skip(err)
	}
	if _, err := treecopy.Copy(t.Context(), tree, root(), to, treecopy.Options{}); err == nil {
		t.Error("it was copied through the link")
	}
	if got := onDisk(t, outside); len(got) > 0 {
		t.Errorf("outside are %d files", len(got))
	}
}

// texts yields files to be written.
func texts(files map[string]string) iter.Seq[treecopy.File] {
	return func(yield func(treecopy.File) bool) {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			f := treecopy.File{Path: name, Write: func(_ context.Context, w io.Writer) error {
				_, err := io.WriteString(w, files[name])
				return err
			}}
			if !yield(f) {
				return
			}
		}
	}
}

// TestWrite checks that files are written by the same rules.
func TestWrite(t *testing.T) {
	to := filepath.Join(t.TempDir(), "new")
	files := map[string]string{"a": "1", "b/c/d": "22", "b/e": "333"}
	r, err := treecopy.Write(t.Context(), texts(files), to, treecopy.Options{})
	if err != nil || r.Files != 3 || r.Bytes != 6 {
		t.Errorf("%+v, %v", r, err)
	}
	same(t, onDisk(t, to), files)

	var failed []string
	o := treecopy.Options{Failed: func(path string, _ treecopy.Reason, _ error) error {
		failed = append(failed, path)
		return nil
	}}
	r, err = treecopy.Write(t.Context(), texts(map[string]string{"a": "other", "f": "new"}), to, o)
	if err != nil || r.Files != 1 || r.Left() != 1 || r.Present != 1 || !slices.Equal(failed, []string{"a"}) {
		t.Errorf("%+v, %v, failed %v", r, err, failed)
	}
	files["f"] = "new"
	same(t, onDisk(t, to), files)
}

func TestWriteCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	endless := func(yield func(treecopy.File) bool) {
		nothing := func(context.Context, io.Writer) error { return nil }
		for i := 0; ; i++ {
			if !yield(treecopy.File{Path: fmt.Sprint(i), Write: nothing}) {
				return
			}
		}
	}
	_, err := treecopy.Write(ctx, endless, t.TempDir(), treecopy.Options{Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestOverwrite checks that a file stays the old one until the new one is whole, and that a
// link is replaced, not its target.
func TestOverwrite(t *testing.T) {
	outside, to := t.TempDir(), t.TempDir()
	old := map[string]string{"whole": "old", "broken": "old"}
	if _, err := treecopy.Write(t.Context(), texts(old), to, treecopy.Options{}); err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(outside, "theirs")
	if err := os.WriteFile(theirs, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(theirs, filepath.Join(to, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("whole", filepath.Join(to, "inside")); err != nil {
		t.Skip(err)
	}
	files := func(yield func(treecopy.File) bool) {
		for f := range texts(map[string]string{"whole": "new", "broken": "new", "link": "new", "inside": "other"}) {
			if write := f.Write; f.Path == "broken" {
				f.Write = func(ctx context.Context, w io.Writer) error { return errors.Join(write(ctx, w), errFlaw) }
			}
			if !yield(f) {
				return
			}
		}
	}
	o := treecopy.Options{Overwrite: true, Failed: func(string, treecopy.Reason, error) error { return nil }}
	r, err := treecopy.Write(t.Context(), files, to, o)
	if err != nil || r.Files != 3 || r.Left() != 1 || r.Present != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	same(t, onDisk(t, to), map[string]string{"whole": "new", "broken": "old", "link": "new", "inside": "other"})
	same(t, onDisk(t, outside), map[string]string{"theirs": "theirs"})
}

// TestLinksAndLateSizes copies links as links, and whole files whose sizes a listing
// doesn't know.
func TestLinksAndLateSizes(t *testing.T) {
	var b nodetest.Builder
	dir := b.Dir(nodes.Root, "dir")
	b.File(dir, "file", "text")
	b.Link(nodes.Root, "link", "dir/file")
	tree, err := b.Build(time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if report, err := treecopy.Copy(t.Context(), &nodetest.LateSizes{Tree: tree}, root(), to, treecopy.Options{}); err != nil || report.Files != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if target, err := os.Readlink(filepath.Join(to, "link")); err != nil || target != "dir/file" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "link")); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Remove(filepath.Join(to, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "link"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if report, err := treecopy.Copy(t.Context(), tree, root(), to, treecopy.Options{}); err == nil || report.Files != 0 {
		t.Errorf("a link replaced a file: %+v, %v", report, err)
	}
	if report, err := treecopy.Copy(t.Context(), tree, root(), to, treecopy.Options{Overwrite: true}); err != nil || report.Files != 2 {
		t.Errorf("%+v, %v", report, err)
	}
	if target, err := os.Readlink(filepath.Join(to, "link")); err != nil || target != "dir/file" {
		t.Errorf("the new link leads to %q, %v", target, err)
	}
	to = t.TempDir()
	if report, err := treecopy.Copy(t.Context(), tree, root(), to, treecopy.Options{Filter: treecopy.Filter{Dir: func(dir string) bool { return dir != "dir" }}}); err != nil || report.Files != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := os.Lstat(filepath.Join(to, "dir")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory to leave out: %v", err)
	}
}

// TestMeasure measures a whole copy, one with existing files, and one with files that grow.
func TestMeasure(t *testing.T) {
	tree, files := sample()
	all := int64(0)
	for _, text := range files {
		all += int64(len(text))
	}
	to := filepath.Join(t.TempDir(), "new")
	measure := func(o treecopy.Options) treecopy.Amount {
		t.Helper()
		a, err := treecopy.Measure(t.Context(), tree, root(), to, 1000, o)
		if err != nil {
			t.Error(err)
		}
		return a
	}
	if got := measure(treecopy.Options{}); got != (treecopy.Amount{Files: int64(len(files)), Bytes: all}) {
		t.Errorf("of a new folder: %+v, want %d files of %d bytes", got, len(files), all)
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(to, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "a", "b", "large"), make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	large := int64(len(files["a/b/large"]))
	if got := measure(treecopy.Options{}); got != (treecopy.Amount{Files: int64(len(files)) - 1, Bytes: all - large}) {
		t.Errorf("without a file that is there: %+v", got)
	}
	if got := measure(treecopy.Options{Overwrite: true}); got != (treecopy.Amount{Files: int64(len(files)), Bytes: all - 1000}) {
		t.Errorf("with a file that is replaced: %+v", got)
	}
}

// endless is a directory of directories and files without end; the files don't end either.
type endless struct{ nodes.Tree }

func (endless) ReadDir(context.Context, nodes.ID, uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		for i := range 1 << 30 {
			e := nodes.Entry{ID: nodes.ID(i + 2), Name: fmt.Sprint(i), Size: 1 << 62}
			if i%2 == 0 {
				e.Kind = nodes.Dir
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestMeasureEndless(t *testing.T) {
	testneeds.Seconds(t)
	tree, _ := sample()
	a, err := treecopy.Measure(t.Context(), endless{tree}, root(), t.TempDir(), 100_000, treecopy.Options{})
	if !errors.Is(err, treecopy.ErrTooMany) || a.Files > 100_000 {
		t.Errorf("%+v, %v", a, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := treecopy.Measure(ctx, tree, root(), t.TempDir(), 1000, treecopy.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestReasons checks that files which are not written are counted by the reason why.
func TestReasons(t *testing.T) {
	tree, _ := sample()
	reasons := map[string]error{
		"many/000": nodes.ErrUnavailable, "many/001": nodes.ErrNoKey, "many/002": errFlaw,
		"many/003": fmt.Errorf("chunk 1: %w", nodes.ErrNoKey),
	}
	failing := map[nodes.ID]error{}
	for w, err := range nodes.Walk(t.Context(), tree, nodes.Root) {
		if err != nil {
			t.Fatal(err)
		}
		if reason, ok := reasons[w.Path]; ok {
			failing[w.ID] = reason
		}
	}
	to := t.TempDir()
	if err := os.WriteFile(filepath.Join(to, "top"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	why := map[string]treecopy.Reason{}
	o := treecopy.Options{Failed: func(path string, reason treecopy.Reason, _ error) error {
		why[path] = reason
		return nil
	}}
	r, err := treecopy.Copy(t.Context(), unreadable{tree, failing}, root(), to, o)
	if err != nil || r.Present != 1 || r.Missing != 1 || r.NoKey != 2 || r.Damaged != 1 || r.Failed != 0 || r.Left() != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	want := map[string]treecopy.Reason{
		"top": treecopy.Present, "many/000": treecopy.Missing, "many/001": treecopy.NoKey,
		"many/002": treecopy.Damaged, "many/003": treecopy.NoKey,
	}
	if !maps.Equal(why, want) {
		t.Errorf("%v, want %v", why, want)
	}
}

// unreadable is a tree with files that can't be read.
type unreadable struct {
	nodes.Tree
	why map[nodes.ID]error
}

func (u unreadable) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	if err := u.why[id]; err != nil {
		return 0, err
	}
	return u.Tree.ReadAt(ctx, id, p, off)
}

// TestNotWritten checks that a file that can't be made is no damage of the source.
func TestNotWritten(t *testing.T) {
	tree, _ := sample()
	to := t.TempDir()
	if err := os.WriteFile(filepath.Join(to, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := treecopy.Options{
		Filter: treecopy.Filter{File: func(path string) bool { return strings.HasPrefix(path, "a/") }},
		Failed: func(string, treecopy.Reason, error) error { return nil },
	}
	r, err := treecopy.Copy(t.Context(), tree, root(), to, o)
	if err != nil || r.Failed != 2 || r.Damaged != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFilter checks that only what is taken is copied, measured and foretold, and that no other
// directories are listed or made.
func TestFilter(t *testing.T) {
	tree, files := sample()
	o := treecopy.Options{Filter: treecopy.Filter{
		Dir: func(path string) bool {
			if path != "a" && path != "a/b" && path != "many" {
				t.Errorf("%s is asked for", path)
			}
			return path != "many"
		},
		File: func(path string) bool { return path == "a/b/large" },
	}}
	to := t.TempDir()
	a, err := treecopy.Measure(t.Context(), tree, root(), to, 1000, o)
	if err != nil || a.Files != 1 || a.Bytes != int64(len(files["a/b/large"])) {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := treecopy.Copy(t.Context(), tree, root(), to, o); err != nil {
		t.Fatal(err)
	}
	same(t, onDisk(t, to), map[string]string{"a/b/large": files["a/b/large"]})
	if _, err := os.Stat(filepath.Join(to, "many")); err == nil {
		t.Error("an empty directory is made")
	}
}

// TestRows copies files in another order than that of the tree, without those that are there.
func TestRows(t *testing.T) {
	tree, files := sample()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "top"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := 0
	var order []string
	r, err := treecopy.Copy(t.Context(), tree, root(), dir, treecopy.Options{
		Workers: 3,
		Rows: func(_ context.Context, ids []nodes.ID) ([][]int, error) {
			asked += len(ids)
			row := make([]int, len(ids))
			for i := range row {
				row[i] = len(ids) - 1 - i
			}
			return [][]int{row[:1], row[1:]}, nil
		},
		Failed: func(path string, why treecopy.Reason, _ error) error {
			order = append(order, fmt.Sprint(path, " ", why == treecopy.Present))
			return nil
		},
	})
	if err != nil || asked != len(files)-1 || r.Files != int64(asked) || r.Present != 1 || !slices.Equal(order, []string{"top true"}) {
		t.Errorf("%d files asked of %d, %+v, %v, %v", asked, len(files), r, order, err)
	}
	files["top"] = "old"
	same(t, onDisk(t, dir), files)

	why := errors.New("nobody knows")
	_, err = treecopy.Copy(t.Context(), tree, root(), t.TempDir(), treecopy.Options{
		Rows: func(context.Context, []nodes.ID) ([][]int, error) { return nil, why },
	})
	if !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

// late is a tree that knows the size of a file, and how it begins, only when it is written.
type late struct {
	nodes.Tree
	asked int
}

func (l *late) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		for e, err := range l.Tree.ReadDir(ctx, dir, cursor) {
			if e.Kind == nodes.File {
				e.Size = nodes.UnknownSize
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (l *late) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	l.asked++
	return l.Tree.Attr(ctx, id)
}

func (l *late) Stream(ctx context.Context, file nodes.ID, w io.Writer) (int64, bool, error) {
	attr, err := l.Tree.Attr(ctx, file)
	if err != nil {
		return 0, false, err
	}
	if _, err := io.WriteString(w, strings.Repeat("what was wrong", 100)); err != nil {
		return 0, false, err
	}
	if err := w.(interface{ Restart() error }).Restart(); err != nil {
		return 0, false, err
	}
	n, err := io.Copy(w, io.NewSectionReader(content{ctx, l.Tree, file}, 0, attr.Size))
	return n, true, err
}

// content is an [io.ReaderAt] of a file.
type content struct {
	ctx  context.Context
	tree nodes.Tree
	file nodes.ID
}

func (c content) ReadAt(p []byte, off int64) (int, error) {
	return c.tree.ReadAt(c.ctx, c.file, p, off)
}

// TestSizesLater checks that files are counted and copied whose sizes nobody knows before.
func TestSizesLater(t *testing.T) {
	tree, files := sample()
	l := &late{Tree: tree}
	to := t.TempDir()
	o := treecopy.Options{SizesLater: true, Workers: 1}
	a, err := treecopy.Measure(t.Context(), l, root(), to, 1000, o)
	if want := (treecopy.Amount{Files: int64(len(files)), Bytes: nodes.UnknownSize}); err != nil || a != want {
		t.Errorf("%+v, %v, want %+v", a, err, want)
	}
	all := int64(0)
	for _, text := range files {
		all += int64(len(text))
	}
	r, err := treecopy.Copy(t.Context(), l, root(), to, o)
	if err != nil || r.Files != int64(len(files)) || r.Bytes != all {
		t.Errorf("%+v, %v, want %d bytes", r, err, all)
	}
	same(t, onDisk(t, to), files)
	if l.asked > 0 {
		t.Errorf("%d sizes were asked for", l.asked)
	}
}

// TestFailsByPath checks that files which can't be made are told by their whole paths, whatever was
// written to their folders before.
func TestFailsByPath(t *testing.T) {
	to := t.TempDir()
	write := func(context.Context, io.Writer) error { return nil }
	long := strings.Repeat("n", 300)
	files := slices.Values([]treecopy.File{{Path: "a/1", Write: write}, {Path: "a/" + long, Write: write}, {Path: "a/2", Write: write}, {Path: long, Write: write}, {Path: "b/a/1", Write: write}, {Path: "1", Write: write}})
	var told []string
	r, err := treecopy.Write(t.Context(), files, to, treecopy.Options{
		Workers: 1,
		Failed: func(path string, _ treecopy.Reason, err error) error {
			if of, ok := errors.AsType[*os.PathError](err); ok && of.Path == path {
				told = append(told, path)
			}
			return nil
		},
	})
	if err != nil || r.Files != 4 || r.Failed != 2 || !slices.Equal(told, []string{"a/" + long, long}) {
		t.Errorf("%+v, %v, told of %q", r, err, told)
	}
	same(t, onDisk(t, to), map[string]string{"a/1": "", "a/2": "", "b/a/1": "", "1": ""})
}
