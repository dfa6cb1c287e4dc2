//go:build linux

package fs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

var testTime = time.Unix(1_500_000_000, 123_456_789)

func testTree(t testing.TB) *nodetest.Mem {
	t.Helper()
	var b nodetest.Builder
	for i, dir := range []string{"ItemData", "ItemData.1", "äöü \xff"} {
		d := b.Dir(nodes.Root, dir)
		x := b.File(d, "x", "1002\n")
		b.SetXattr(x, "user.lorefs.type", []byte("int"))
		b.SetModTime(x, testTime.Add(time.Duration(i)*time.Hour))
		b.File(d, "empty", "")
		b.File(d, "large", strings.Repeat("0123456789abcde\n", 100_000))
		b.Dir(d, "hollow")
	}
	m, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMounted(t *testing.T) {
	tree := testTree(t)
	dir := fusetest.Mount(t, tree, fs.Options{})
	nodetest.RunMounted(t, dir, tree)
}

func TestMountedLinks(t *testing.T) {
	var b nodetest.Builder
	d := b.Dir(nodes.Root, "dir")
	b.File(d, "file", "text")
	b.Link(d, "beside", "file")
	b.Link(nodes.Root, "into", "dir/beside")
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	dir := fusetest.Mount(t, tree, fs.Options{})
	nodetest.RunMounted(t, dir, tree)
	if got := run(t, "cat", filepath.Join(dir, "into")); got != "text" {
		t.Errorf("through two links: %q", got)
	}
	if got := run(t, "find", dir, "-type", "l", "-printf", "%f %l %s\n"); got != "beside file 4\ninto dir/beside 10\n" {
		t.Errorf("find -type l:\n%s", got)
	}
}

// TestMountedLateSizes checks that a listing of names asks for no size that takes long to
// find.
func TestMountedLateSizes(t *testing.T) {
	tree := &nodetest.LateSizes{Tree: testTree(t)}
	dir := fusetest.Mount(t, tree, fs.Options{})
	if names := run(t, "ls", "-U", filepath.Join(dir, "ItemData")); names != "x\nempty\nlarge\nhollow\n" {
		t.Errorf("listed are %q", names)
	}
	if n := tree.Asked.Load(); n != 0 {
		t.Errorf("a listing of names asked for %d sizes", n)
	}
	nodetest.RunMounted(t, dir, tree)
	if tree.Asked.Load() == 0 {
		t.Error("nobody asked for a size")
	}
}

func TestMountedMux(t *testing.T) {
	tree, err := nodes.NewMux(testTime, []nodes.Mount{
		{Name: "tree", Tree: testTree(t)},
		{Name: "info.json", Content: "{}\n"},
		{Name: "more", Tree: testTree(t)},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := fusetest.Mount(t, tree, fs.Options{})
	nodetest.RunMounted(t, dir, tree)
}

// run runs a program and returns its output. Its working directory is not in the mount: see
// "Deadlocks" in go-fuse's documentation.
func run(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func TestReadOnly(t *testing.T) {
	dir := fusetest.Mount(t, testTree(t), fs.Options{FsName: "some,source.dat"})
	for name, err := range map[string]error{
		"create": os.WriteFile(filepath.Join(dir, "new"), nil, 0o600),
		"remove": os.Remove(filepath.Join(dir, "ItemData", "x")),
		"rmdir":  os.Remove(filepath.Join(dir, "ItemData", "hollow")),
		"rename": os.Rename(filepath.Join(dir, "ItemData", "x"), filepath.Join(dir, "y")),
		"chmod":  os.Chmod(filepath.Join(dir, "ItemData"), 0o700),
	} {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v, want EROFS", name, err)
		}
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	if want := "some,source.dat " + dir + " fuse.lorefs ro,nosuid,nodev"; !strings.Contains(string(mounts), want) {
		t.Errorf("no %q among the mounts", want)
	}
}

func TestStatfs(t *testing.T) {
	tree := testTree(t)
	dir := fusetest.Mount(t, tree, fs.Options{})
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	u := tree.Usage()
	if int64(st.Blocks) != (u.Bytes+4095)/4096 || int64(st.Files) != u.Nodes || st.Bfree != 0 || st.Namelen != 255 || st.Bsize != 4096 {
		t.Errorf("statfs = %+v for %+v", st, u)
	}
}

func TestXattrs(t *testing.T) {
	dir, s := fusetest.Serve(t, testTree(t), fs.Options{})
	file := filepath.Join(dir, "ItemData", "x")
	buf := make([]byte, 100)
	if n, err := unix.Getxattr(file, "user.lorefs.type", buf); err != nil || string(buf[:n]) != "int" {
		t.Errorf("getxattr = %q, %v", buf[:max(n, 0)], err)
	}
	if _, err := unix.Getxattr(file, "user.lorefs.type", buf[:1]); err != unix.ERANGE {
		t.Errorf("getxattr into one byte: %v, want ERANGE", err)
	}
	if n, err := unix.Getxattr(file, "user.lorefs.type", nil); n != 3 || err != nil {
		t.Errorf("getxattr of the size = %d, %v", n, err)
	}
	if n, err := unix.Listxattr(file, buf); err != nil || string(buf[:n]) != "user.lorefs.type\x00" {
		t.Errorf("listxattr = %q, %v", buf[:max(n, 0)], err)
	}
	// ls takes the first "not supported" for all.
	before := s.Stats().Xattrs
	run(t, "ls", "-lR", dir)
	if n := s.Stats().Xattrs - before; n > 4 {
		t.Errorf("ls -lR asked for %d extended attributes", n)
	}
}

func TestNoXattr(t *testing.T) {
	dir, s := fusetest.Serve(t, testTree(t), fs.Options{NoXattr: true})
	file := filepath.Join(dir, "ItemData", "x")
	// This answer makes ls ask for no other file. "No data" would not.
	if _, err := unix.Getxattr(file, "system.posix_acl_access", nil); err != unix.ENOTSUP {
		t.Errorf("getxattr of an access list: %v, want ENOTSUP", err)
	}
	before := s.Stats().Xattrs
	run(t, "ls", "-lR", dir)
	if n := s.Stats().Xattrs - before; n > 4 {
		t.Errorf("ls -lR asked for %d extended attributes", n)
	}
	// Who goes on asking is answered by the kernel, and so are all others then.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before = s.Stats().Xattrs
	for range 100 {
		if _, err := unix.Getxattr(file, "user.lorefs.type", nil); err != unix.ENOTSUP {
			t.Errorf("getxattr: %v, want ENOTSUP", err)
		}
		if _, err := unix.Listxattr(file, nil); err != unix.ENOTSUP {
			t.Errorf("listxattr: %v, want ENOTSUP", err)
		}
	}
	if n := s.Stats().Xattrs - before; n > 6 {
		t.Errorf("200 questions for extended attributes made %d requests", n)
	}
}

// TestRequests counts the requests of programs. The numbers are the kernel's and the same
// on every machine, so this test guards the adapter's speed.
func TestRequests(t *testing.T) {
	s := shape{dirs: 20, files: 10}
	dir, server := fusetest.Serve(t, s.tree(t), fs.Options{NoPrime: true, NoXattr: true})
	steps := []struct {
		args []string
		// A listing takes two requests, the second of which finds the end.
		want fs.Stats
	}{
		// The first stat of the root, and the first try to open a directory.
		{[]string{"find", dir}, fs.Stats{Readdirs: 2 * 21, Opendirs: 1, Getattrs: 1}},
		{[]string{"find", dir}, fs.Stats{}},
		{[]string{"ls", "-lR", dir}, fs.Stats{}},
		{[]string{"find", dir, "-type", "f", "-exec", "cat", "{}", "+"}, fs.Stats{Reads: 200, Opens: 1}},
		{[]string{"find", dir, "-type", "f", "-exec", "cat", "{}", "+"}, fs.Stats{}},
		// stat asks for the time of birth, sync for nothing.
		{[]string{"sh", "-c", "stat " + dir + "/*/* && sync " + dir + "/*/*"}, fs.Stats{}},
		{[]string{"sh", "-c", "test ! -e " + dir + "/nothing"}, fs.Stats{Lookups: 1}},
		{[]string{"sh", "-c", "test ! -e " + dir + "/nothing"}, fs.Stats{}},
	}
	var before fs.Stats
	for _, step := range steps {
		run(t, step.args...)
		st := server.Stats()
		for _, c := range []struct {
			name      string
			got, want uint64
		}{
			{"LOOKUP", st.Lookups - before.Lookups, step.want.Lookups},
			{"GETATTR", st.Getattrs - before.Getattrs, step.want.Getattrs},
			{"OPEN", st.Opens - before.Opens, step.want.Opens},
			{"OPENDIR", st.Opendirs - before.Opendirs, step.want.Opendirs},
			{"READDIRPLUS", st.Readdirs - before.Readdirs, step.want.Readdirs},
			{"READ", st.Reads - before.Reads, step.want.Reads},
		} {
			if c.got != c.want {
				t.Errorf("%s: %d %s, want %d", step.args[0], c.got, c.name, c.want)
			}
		}
		// Each kind is answered ENOSYS once; which kinds there are is up to the kernel.
		if n := others(st) - others(before); n > 3 {
			t.Errorf("%s: %d other requests, want 3 at most", step.args[0], n)
		}
		before = st
	}
}

// others counts requests of no particular kind.
func others(s fs.Stats) uint64 {
	return s.Requests - s.Lookups - s.Getattrs - s.Opens - s.Opendirs - s.Readdirs - s.Reads - s.Xattrs
}

func TestPrimingServesWhatIsRead(t *testing.T) {
	testneeds.Seconds(t)
	s := shape{dirs: testneeds.Cases(15, 50, 50), files: 50}
	dir, server := fusetest.Serve(t, s.tree(t), fs.Options{})
	read := func(name string) {
		t.Helper()
		if p, err := os.ReadFile(name); err != nil || string(p) != shapeContent {
			t.Fatalf("%s: %q, %v", name, p, err)
		}
	}
	// Read files, and then list the next directory.
	read(filepath.Join(dir, s.dirName(0), s.fileName(0)))
	for i := 1; i < s.dirs; i++ {
		entries, err := os.ReadDir(filepath.Join(dir, s.dirName(i)))
		if err != nil {
			t.Fatal(err)
		}
		waitForPrimer(server)
		for _, e := range entries {
			read(filepath.Join(dir, s.dirName(i), e.Name()))
		}
	}
	st := server.Stats()
	if files := uint64(s.dirs * s.files); st.Primed == 0 || st.Reads >= files/2 {
		t.Errorf("%d of %d files are primed, %d reads", st.Primed, files, st.Reads)
	}
	if st.Errors != 0 {
		t.Errorf("errors: %+v", st.LastErrors)
	}
}

// TestPrimingOfLargerFiles reads files of many pages, of which the last is not full.
func TestPrimingOfLargerFiles(t *testing.T) {
	const dirs, files, size = 8, 20, 90_001
	var b nodetest.Builder
	want := map[string][]byte{}
	for d := range dirs {
		dir := fmt.Sprintf("d%d", d)
		id := b.Dir(nodes.Root, dir)
		for f := range files {
			name := fmt.Sprintf("f%d", f)
			content := bytes.Repeat([]byte(dir+name), size)[:size]
			b.File(id, name, string(content))
			want[filepath.Join(dir, name)] = content
		}
	}
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	mnt, server := fusetest.Serve(t, tree, fs.Options{PrimeMax: 128 << 10})
	for d := range dirs {
		dir := filepath.Join(mnt, fmt.Sprintf("d%d", d))
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != files {
			t.Fatalf("%s: %d entries, %v", dir, len(entries), err)
		}
		if d > 0 {
			waitForPrimer(server)
		}
		for _, e := range entries {
			name := filepath.Join(fmt.Sprintf("d%d", d), e.Name())
			if p, err := os.ReadFile(filepath.Join(mnt, name)); err != nil || !bytes.Equal(p, want[name]) {
				t.Fatalf("%s: %d bytes, %v", name, len(p), err)
			}
		}
	}
	if st := server.Stats(); st.Primed == 0 || st.Reads >= dirs*files/2 || st.Errors != 0 {
		t.Errorf("%d of %d files are primed, %d reads; errors: %+v", st.Primed, dirs*files, st.Reads, st.LastErrors)
	}
}

// waitForPrimer waits for a bounded time until nothing more is primed.
func waitForPrimer(s *fs.Server) {
	for before, try := s.Stats().Primed, 0; try < 100; try++ {
		time.Sleep(2 * time.Millisecond)
		now := s.Stats().Primed
		if now > before && now == s.Stats().Primed && try > 2 {
			return
		}
	}
}

// settled waits until the number of inodes has come down to limit, since FORGETs arrive
// late.
func settled(s *fs.Server, limit int) int {
	for range 500 {
		if s.Stats().Inodes <= limit {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return s.Stats().Inodes
}

func TestInodesAreBounded(t *testing.T) {
	testneeds.Seconds(t)
	const limit = 5000
	s := shape{dirs: 700, files: 99}
	if testneeds.Quick() {
		s.dirs = 300
	}
	dir, server := fusetest.Serve(t, s.tree(t), fs.Options{MaxInodes: limit, NoXattr: true})

	// A process that lives in a directory, and one that has a file open.
	home := filepath.Join(dir, s.dirName(0))
	resident := exec.Command("sh", "-c", "cd "+home+" && exec 3<attr5 && echo in; read x; pwd -P; cat attr7; cat <&3; ls | wc -l")
	stdin, err := resident.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := resident.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := resident.Start(); err != nil {
		t.Fatal(err)
	}
	in := make([]byte, 3)
	if _, err := stdout.Read(in); err != nil {
		t.Fatal(err)
	}

	copied := t.TempDir()
	defer func() { run(t, "chmod", "-R", "u+w", copied) }() // or only root could remove it
	for _, args := range [][]string{
		{"find", dir},
		{"ls", "-lR", dir},
		{"grep", "-rc", "truth", dir},
		{"sh", "-c", "cp -a " + dir + "/Item.19* " + copied}, // 11 directories
	} {
		out := run(t, args...)
		if n := strings.Count(out, "\n"); n < s.dirs*s.files && args[0] != "sh" {
			t.Errorf("%s: %d lines for %d files", args[0], n, s.dirs*s.files)
		}
		if n := settled(server, limit); n > limit {
			t.Errorf("after %s the kernel knows %d inodes, want at most %d", args[0], n, limit)
		}
	}
	if st := server.Stats(); st.Forgets == 0 {
		t.Error("nothing was ever forgotten")
	}

	_ = stdin.Close()
	var rest bytes.Buffer
	if _, err := rest.ReadFrom(stdout); err != nil {
		t.Fatal(err)
	}
	if err := resident.Wait(); err != nil {
		t.Errorf("the process inside: %v", err)
	}
	if want := home + "\n" + shapeContent + shapeContent + "99\n"; rest.String() != want {
		t.Errorf("the process inside sees %q, want %q", rest.String(), want)
	}
}

func TestConcurrentReaders(t *testing.T) {
	s := shape{dirs: 50, files: 40}
	dir, server := fusetest.Serve(t, s.tree(t), fs.Options{MaxInodes: 500})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			out, err := exec.Command("grep", "-rc", "truth", dir).Output()
			if n := bytes.Count(out, []byte(":1\n")); err != nil || n != s.dirs*s.files {
				t.Errorf("grep found %d files, want %d: %v", n, s.dirs*s.files, err)
			}
		})
	}
	wg.Wait()
	if st := server.Stats(); st.Errors != 0 {
		t.Errorf("errors: %+v", st.LastErrors)
	}
}

func TestUnmountOfBusyMount(t *testing.T) {
	dir, s := fusetest.Serve(t, testTree(t), fs.Options{})
	f, err := os.Open(filepath.Join(dir, "ItemData", "x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Unmount(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("Unmount of a busy mount: %v, want EBUSY", err)
	}
	if p, err := os.ReadFile(filepath.Join(dir, "ItemData.1", "x")); err != nil || string(p) != "1002\n" {
		t.Errorf("after that: %q, %v", p, err)
	}
	_ = f.Close()
	if err := s.Unmount(); err != nil {
		t.Error(err)
	}
	s.Wait()
}

// brokenTree fails or panics where a name says so.
type brokenTree struct{ *nodetest.Mem }

func (b brokenTree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	switch n, _ := b.Mem.ReadAt(ctx, id, p, off); string(p[:n]) {
	case "panic":
		panic("BUG: as the test wants it")
	case "fail":
		return 0, errors.New("block 7 is damaged")
	case "key":
		return 0, fmt.Errorf("block 8: %w", nodes.ErrNoKey)
	}
	return b.Mem.ReadAt(ctx, id, p, off)
}

func (b brokenTree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	if dir != nodes.Root {
		return func(yield func(nodes.Entry, error) bool) { yield(nodes.Entry{}, errors.New("no listing")) }
	}
	return b.Mem.ReadDir(ctx, dir, cursor)
}

func TestErrorsReachTheReader(t *testing.T) {
	tree := brokenTree{nodetest.MemFiles(testTime, map[string]string{
		"good": "good", "dir/panic": "panic", "dir/fail": "fail", "key": "key",
	})}
	dir, s := fusetest.Serve(t, tree, fs.Options{})
	for name, want := range map[string]error{"good": nil, "dir/panic": syscall.EIO, "dir/fail": syscall.EIO, "key": syscall.ENOKEY} {
		if _, err := os.ReadFile(filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := os.ReadDir(filepath.Join(dir, "dir")); !errors.Is(err, syscall.EIO) {
		t.Errorf("listing: %v, want EIO", err)
	}
	var got []string
	named := 0
	for _, r := range s.Stats().LastErrors {
		got = append(got, r.Op+" "+r.Path+": "+r.Err)
		named += r.Times
	}
	for _, want := range []string{
		"read /dir/fail: block 7 is damaged", "readdir /dir: no listing", "read /key: block 8: ",
		"internal error: panic: BUG: as the test wants it",
	} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%q is not among the errors: %q", want, got)
		}
	}
	if n := s.Stats().Errors; n != uint64(named) {
		t.Errorf("%d errors are counted, %d named: %q", n, named, got)
	}
}

// TestReadCountsOnce checks that one read of a program is one error, however often the kernel asks
// for it.
func TestReadCountsOnce(t *testing.T) {
	dir, s := fusetest.Serve(t, brokenTree{nodetest.MemFiles(testTime, map[string]string{"key": "key", "other": "fail"})}, fs.Options{})
	for i, name := range []string{"key", "other"} {
		if out, err := exec.CommandContext(t.Context(), "cat", filepath.Join(dir, name)).CombinedOutput(); err == nil {
			t.Errorf("cat says %q", out)
		}
		if n := s.Stats().Errors; n != uint64(i+1) {
			t.Errorf("%d errors after %d reads: %+v", n, i+1, s.Stats().LastErrors)
		}
	}
}

// waitingTree reads nothing before the request is canceled.
type waitingTree struct {
	*nodetest.Mem
	reading chan struct{}
}

func (w waitingTree) ReadAt(ctx context.Context, _ nodes.ID, _ []byte, _ int64) (int, error) {
	w.reading <- struct{}{}
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestInterruptedReadIsNoError checks that killing a reader is no error of the mount.
func TestInterruptedReadIsNoError(t *testing.T) {
	tree := waitingTree{nodetest.MemFiles(testTime, map[string]string{"x": "text"}), make(chan struct{}, 64)}
	dir, s := fusetest.Serve(t, tree, fs.Options{})
	reader := exec.Command("cat", filepath.Join(dir, "x"))
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	<-tree.reading
	_ = reader.Process.Kill()
	if err := reader.Wait(); err == nil {
		t.Error("the reader was not killed")
	}
	if err := s.Unmount(); err != nil { // all requests have been answered then
		t.Fatal(err)
	}
	if st := s.Stats(); st.Errors != 0 || len(st.LastErrors) != 0 {
		t.Errorf("%d errors: %+v", st.Errors, st.LastErrors)
	}
}

// slowTree is slow.
type slowTree struct{ *nodetest.Mem }

func (s slowTree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	time.Sleep(5 * time.Millisecond)
	return s.Mem.ReadAt(ctx, id, p, off)
}

// TestManyReadersReadAhead checks that with many readers Linux does not read small files by
// the page.
func TestManyReadersReadAhead(t *testing.T) {
	const readers, files, size = 32, 256, 64 << 10
	texts := map[string]string{}
	for i := range files {
		texts[fmt.Sprint(i)] = strings.Repeat("x", size)
	}
	dir, s := fusetest.Serve(t, slowTree{nodetest.MemFiles(testTime, texts)}, fs.Options{})
	// The shell goes there, and not Go between fork and exec: the mount is served by this process,
	// all of which waits then if garbage is to be collected.
	c := exec.Command("sh", "-c", fmt.Sprintf("cd %s && seq 0 %d | xargs -n 4 -P %d cat | wc -c", dir, files-1, readers))
	out, err := c.Output()
	if err != nil || strings.TrimSpace(string(out)) != fmt.Sprint(files*size) {
		t.Fatalf("%s bytes, want %d: %v", out, files*size, err)
	}
	reads := s.Stats().Reads
	t.Logf("%d requests", reads)
	if reads > 2*files {
		t.Errorf("%d requests to read %d files of %d bytes, want %d", reads, files, size, 2*files)
	}
}
