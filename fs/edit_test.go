//go:build linux

package fs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// editable mounts writable files.
func editable(t *testing.T, files map[string]string, o fs.Options) (string, *fs.Server, *nodetest.Mutable) {
	t.Helper()
	tree := nodetest.NewMutable(files)
	o.ReadWrite = true
	dir, s := fusetest.Serve(t, tree, o)
	return dir, s, tree
}

func open(t *testing.T, flags int, path ...string) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(path...), flags, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func put(t *testing.T, content string, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// holds checks the content of files in the mount.
func holds(t *testing.T, want string, path ...string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(path...))
	if string(got) != want || err != nil {
		t.Errorf("%s has %q, %v; want %q", filepath.Join(path...), got, err, want)
	}
	if info, err := os.Stat(filepath.Join(path...)); err != nil || info.Size() != int64(len(want)) {
		t.Errorf("%s has the size %d, %v; want %d", filepath.Join(path...), info.Size(), err, len(want))
	}
}

func reads(t *testing.T, f *os.File, want string) {
	t.Helper()
	got, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	if string(got) != want || err != nil {
		t.Errorf("the open file has %q, %v; want %q", got, err, want)
	}
}

func lists(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s lists %q, %v; want %q", dir, got, err, want)
	}
}

func nlink(t *testing.T, f *os.File) int {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	return int(st.Nlink)
}

func TestReadWriteWantsAMutable(t *testing.T) {
	fusetest.Require(t)
	if s, err := fs.Mount(t.Context(), t.TempDir(), testTree(t), fs.Options{ReadWrite: true}); err == nil {
		_ = s.Unmount()
		t.Error("a tree that can't be changed is mounted to be")
	}
}

func TestMutableReadOnly(t *testing.T) {
	tree := nodetest.NewMutable(map[string]string{"d/x": "text"})
	dir := fusetest.Mount(t, tree, fs.Options{})
	if err := os.WriteFile(filepath.Join(dir, "d", "x"), nil, 0); !errors.Is(err, syscall.EROFS) {
		t.Errorf("write: %v, want EROFS", err)
	}
	nodetest.RunMounted(t, dir, tree)
	for name, want := range map[string]os.FileMode{"d": os.ModeDir | 0o555, "d/x": 0o444} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s is %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

func TestMountedReadWrite(t *testing.T) {
	dir, _, tree := editable(t, map[string]string{"d/x": "text", "e/": "", "f": strings.Repeat("long ", 100_000)}, fs.Options{})
	put(t, "more", dir, "e", "new")
	nodetest.RunMounted(t, dir, tree)
	mounts, err := os.ReadFile("/proc/self/mounts")
	if want := dir + " fuse.lorefs rw,nosuid,nodev"; err != nil || !strings.Contains(string(mounts), want) {
		t.Errorf("no %q among the mounts, %v", want, err)
	}
	for name, want := range map[string]os.FileMode{"e": os.ModeDir | 0o755, "e/new": 0o644} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s is %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || st.Bavail == 0 || st.Ffree == 0 || st.Blocks < st.Bfree {
		t.Errorf("statfs = %+v, %v", st, err)
	}
}

func TestPartsThatCannotBeChanged(t *testing.T) {
	tree := nodetest.NewMutable(map[string]string{"fixed/x": "text", "fixed/y": "text"})
	tree.ReadOnly = func(name string) bool { return name == "fixed" || name == "x" }
	dir, s := fusetest.Serve(t, tree, fs.Options{ReadWrite: true})
	fixed, x := filepath.Join(dir, "fixed"), filepath.Join(dir, "fixed", "x")
	_, openErr := os.OpenFile(x, os.O_RDWR, 0)
	for name, err := range map[string]error{
		"open": openErr, "truncate": os.Truncate(x, 0), "create": os.WriteFile(filepath.Join(fixed, "new"), nil, 0),
		"mkdir": os.Mkdir(filepath.Join(fixed, "new"), 0), "remove": os.Remove(x), "rename": os.Rename(x, filepath.Join(dir, "x")),
		"touch": os.Chtimes(x, time.Now(), time.Now()),
	} {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v, want EROFS", name, err)
		}
	}
	if err := os.Chmod(x, 0o600); err != nil {
		t.Errorf("chmod: %v", err)
	}
	holds(t, "text", x)
	put(t, "new", fixed, "y")
	for name, want := range map[string]os.FileMode{fixed: os.ModeDir | 0o555, x: 0o444, filepath.Join(fixed, "y"): 0o644} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s is %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	if errs := s.Stats().LastErrors; len(errs) != 0 {
		t.Errorf("errors although the numbers say it all: %+v", errs)
	}
}

func TestMuxReadWrite(t *testing.T) {
	one, two := nodetest.NewMutable(map[string]string{"x": "1"}), nodetest.NewMutable(map[string]string{"d/": ""})
	m, err := nodes.NewMux(testTime, []nodes.Mount{
		{Name: "one", Tree: one}, {Name: "info", Content: "{}\n"}, {Name: "fixed", Tree: testTree(t)}, {Name: "two", Tree: two},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := fusetest.Mount(t, m, fs.Options{ReadWrite: true})
	if out, err := shell(t, dir, `mv $M/one/x $M/two/d/y; echo 2 > $M/one/z; cp -r $M/fixed/ItemData $M/two; sync $M
		! rm $M/info; ! touch $M/new; ! rmdir $M/fixed/ItemData/hollow`); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	holds(t, "1", dir, "two", "d", "y")
	if got := inTree(t, one, "z"); got != "2\n" || one.Syncs() == 0 || two.Syncs() == 0 {
		t.Errorf("%q, saved %d and %d times", got, one.Syncs(), two.Syncs())
	}
	lists(t, filepath.Join(dir, "one"), "z")
	if !errors.Is(os.Rename(filepath.Join(dir, "one", "z"), filepath.Join(dir, "two", "z")), syscall.EXDEV) {
		t.Error("a rename between trees is not EXDEV")
	}
	nodetest.RunMounted(t, dir, m)
}

// TestDirectoriesAfterChanges checks listings and times that the kernel has cached.
func TestDirectoriesAfterChanges(t *testing.T) {
	dir, s, _ := editable(t, map[string]string{"d/a": "", "e/": ""}, fs.Options{})
	d, e := filepath.Join(dir, "d"), filepath.Join(dir, "e")
	mtime := func(name string) time.Time {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	for _, step := range []struct {
		do      func() error
		inD     []string
		inE     []string
		changes []string
	}{
		{func() error { return os.WriteFile(filepath.Join(d, "b"), nil, 0) }, []string{"a", "b"}, nil, []string{d}},
		{func() error { return os.Mkdir(filepath.Join(d, "c"), 0) }, []string{"a", "b", "c"}, nil, []string{d}},
		{func() error { return os.Remove(filepath.Join(d, "a")) }, []string{"b", "c"}, nil, []string{d}},
		{func() error { return os.Remove(filepath.Join(d, "c")) }, []string{"b"}, nil, []string{d}},
		{func() error { return os.Rename(filepath.Join(d, "b"), filepath.Join(e, "f")) }, nil, []string{"f"}, []string{d, e}},
		{func() error { return os.WriteFile(filepath.Join(e, "f"), []byte("text"), 0) }, nil, []string{"f"}, nil},
		{func() error { return os.Rename(e, filepath.Join(d, "e")) }, []string{"e"}, nil, []string{d, dir}},
	} {
		before := map[string]time.Time{}
		for _, name := range step.changes {
			before[name] = mtime(name)
		}
		lists(t, dir, onlyExisting(d, e)...)
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for _, name := range step.changes {
			if !mtime(name).After(before[name]) {
				t.Errorf("%s has the time it had", name)
			}
		}
		lists(t, d, step.inD...)
		if _, err := os.Stat(e); err == nil {
			lists(t, e, step.inE...)
		}
		listed := s.Stats().Readdirs
		lists(t, d, step.inD...)
		if n := s.Stats().Readdirs - listed; n != 0 {
			t.Errorf("%d requests to list what nobody has changed", n)
		}
	}
}

func onlyExisting(names ...string) (base []string) {
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			base = append(base, filepath.Base(name))
		}
	}
	return base
}

func TestWhatThereIsNot(t *testing.T) {
	dir, s, _ := editable(t, map[string]string{"x": "text", "y": ""}, fs.Options{})
	x, y := open(t, os.O_RDWR, dir, "x"), open(t, os.O_RDWR, dir, "y")
	_, tmpErr := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR, 0o600)
	for _, c := range []struct {
		name      string
		err, want error
	}{
		{"symlink", os.Symlink("x", filepath.Join(dir, "s")), syscall.EPERM},
		{"link", os.Link(filepath.Join(dir, "x"), filepath.Join(dir, "l")), syscall.EPERM},
		{"mkfifo", unix.Mkfifo(filepath.Join(dir, "p"), 0o600), syscall.EPERM},
		{"mknod", unix.Mknod(filepath.Join(dir, "f"), unix.S_IFREG|0o600, 0), nil},
		{"mknod again", unix.Mknod(filepath.Join(dir, "f"), unix.S_IFREG|0o600, 0), syscall.EEXIST},
		{"O_TMPFILE", tmpErr, syscall.ENOTSUP},
		{"fallocate", unix.Fallocate(int(x.Fd()), 0, 0, 100), syscall.ENOTSUP},
		{"chown", os.Chown(filepath.Join(dir, "x"), 1, 1), nil},
		{"rmdir", unix.Rmdir(filepath.Join(dir, "x")), syscall.ENOTDIR},
		{"unlink", unix.Unlink(dir), syscall.EISDIR},
	} {
		if !errors.Is(c.err, c.want) || (c.want == nil && c.err != nil) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	if n, err := unix.CopyFileRange(int(x.Fd()), nil, int(y.Fd()), nil, 4, 0); n != 4 || err != nil {
		t.Errorf("copy_file_range = %d, %v", n, err)
	}
	reads(t, y, "text")
	before := s.Stats().Requests
	_ = unix.Fallocate(int(x.Fd()), 0, 0, 100)
	if n := s.Stats().Requests - before; n != 0 {
		t.Errorf("%d requests for what there is not", n)
	}
}

func TestSetXattrs(t *testing.T) {
	dir, s, tree := editable(t, map[string]string{"x": "text"}, fs.Options{})
	x := filepath.Join(dir, "x")
	others := syscall.ENOTSUP
	if os.Geteuid() != 0 {
		others = syscall.EPERM // by the kernel, which does not ask the mount
	}
	for _, c := range []struct {
		name  string
		flags int
		want  error
	}{
		{"user.a", unix.XATTR_REPLACE, syscall.ENODATA},
		{"user.a", unix.XATTR_CREATE, nil},
		{"user.a", unix.XATTR_CREATE, syscall.EEXIST},
		{"user.a", unix.XATTR_REPLACE, nil},
		{"user.b", 0, nil},
		{"trusted.a", 0, others},
		{"security.other", 0, others},
	} {
		if err := unix.Setxattr(x, c.name, []byte("1"), c.flags); !errors.Is(err, c.want) || (c.want == nil && err != nil) {
			t.Errorf("setxattr %s, %d: %v, want %v", c.name, c.flags, err, c.want)
		}
	}
	if err := unix.Removexattr(x, "user.b"); err != nil {
		t.Error(err)
	}
	if err := unix.Removexattr(x, "user.b"); !errors.Is(err, syscall.ENODATA) {
		t.Errorf("removexattr: %v, want ENODATA", err)
	}
	e, err := tree.Lookup(t.Context(), nodes.Root, "x")
	if err != nil {
		t.Fatal(err)
	}
	if names, err := tree.Xattrs(t.Context(), e.ID); err != nil || !slices.Equal(names, []string{"user.a"}) {
		t.Errorf("the tree has %q, %v", names, err)
	}
	if errs := s.Stats().LastErrors; len(errs) != 0 {
		t.Errorf("errors: %+v", errs)
	}
}

func TestReadWriteForOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	dir, _, _ := editable(t, map[string]string{"x": "text"}, fs.Options{AllowOther: true})
	openUp(t, dir)
	if out, err := asNobody(t, "sh", "-c", "cat "+filepath.Join(dir, "x")).CombinedOutput(); err != nil || string(out) != "text" {
		t.Errorf("others read %q, %v", out, err)
	}
	if err := asNobody(t, "sh", "-c", "echo x > "+filepath.Join(dir, "x")).Run(); err == nil {
		t.Error("others can write")
	}
	put(t, "own", dir, "x")
}

func TestSync(t *testing.T) {
	dir, _, tree := editable(t, map[string]string{"x": "text"}, fs.Options{})
	for i, name := range []string{"", "x", ""} {
		run(t, "sync", filepath.Join(dir, name))
		if n := tree.Syncs(); n != i+1 {
			t.Errorf("saved %d times, want %d", n, i+1)
		}
	}
	f := open(t, os.O_WRONLY, dir, "x")
	if _, err := f.WriteString("T"); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil || tree.Syncs() != 4 {
		t.Errorf("fsync: %v, saved %d times", err, tree.Syncs())
	}
}

// TestOthersSeeAtOnce closes a file, which changes another one.
func TestOthersSeeAtOnce(t *testing.T) {
	tree := nodetest.NewMutable(map[string]string{"a/x": "0", "b/y": "0"})
	b, err := tree.Lookup(t.Context(), nodes.Root, "b")
	if err != nil {
		t.Fatal(err)
	}
	y, err := tree.Lookup(t.Context(), b.ID, "y")
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	var mu sync.Mutex
	tree.Valid = func(_ string, content []byte) error {
		mu.Lock()
		defer mu.Unlock()
		last = string(content)
		return nil
	}
	dir, _ := fusetest.Serve(t, coupled{tree, func() {
		mu.Lock()
		content := last
		mu.Unlock()
		tree.Put(y.ID, content+content)
		tree.Replace(b.ID, "copy", content, false)
	}}, fs.Options{ReadWrite: true})
	for i := range 200 {
		content := strings.Repeat("z", i%7) + fmt.Sprint(i)
		put(t, content, dir, "a", "x")
		holds(t, content+content, dir, "b", "y")
		holds(t, content, dir, "b", "copy")
		lists(t, filepath.Join(dir, "b"), "copy", "y")
	}
}

// coupled calls after whenever a file is flushed.
type coupled struct {
	*nodetest.Mutable
	after func()
}

func (c coupled) OpenWrite(ctx context.Context, file nodes.ID) (nodes.Writer, error) {
	w, err := c.Mutable.OpenWrite(ctx, file)
	return coupledWriter{w, c.after}, err
}

type coupledWriter struct {
	nodes.Writer
	after func()
}

func (w coupledWriter) Flush(ctx context.Context) error {
	err := w.Writer.Flush(ctx)
	w.after()
	return err
}
