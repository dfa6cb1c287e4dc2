//go:build linux

package fs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// serve mounts a tree on dir, like fusetest, which can't be imported here.
func serve(t *testing.T, dir string, tree nodes.Tree, o Options) *Server {
	t.Helper()
	testneeds.FUSE(t)
	o.OwnReads = true
	s, err := Mount(t.Context(), dir, tree, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Unmount(); err != nil && !errors.Is(err, ErrDetached) {
			t.Errorf("%v; detaching: %v", err, Detach(s.Dir()))
		}
	})
	return s
}

func textTree() *nodetest.Mem { return nodetest.MemFiles(testTime, map[string]string{"x": "text"}) }

func wantText(t *testing.T, dir string) {
	t.Helper()
	if p, err := os.ReadFile(filepath.Join(dir, "x")); err != nil || string(p) != "text" {
		t.Errorf("in %s: %q, %v", dir, p, err)
	}
}

func TestUnmountLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	testneeds.Seconds(t)
	dir := t.TempDir()
	first := serve(t, dir, textTree(), Options{})
	open, err := os.Open(filepath.Join(dir, "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()
	if err := Detach(dir); err != nil {
		t.Fatal(err)
	}
	serve(t, dir, textTree(), Options{})
	if err := first.Unmount(); !errors.Is(err, ErrDetached) {
		t.Errorf("Unmount of a detached mount: %v, want ErrDetached", err)
	}
	_ = open.Close()
	first.Wait()
	if err := first.Unmount(); err != nil {
		t.Errorf("Unmount of a mount that is gone: %v", err)
	}
	wantText(t, dir)
}

func TestUnmountOfBoundMount(t *testing.T) {
	t.Parallel()
	testneeds.Seconds(t)
	if os.Geteuid() != 0 {
		t.Skip("only root may bind")
	}
	s := serve(t, t.TempDir(), textTree(), Options{})
	bound := t.TempDir()
	if err := unix.Mount(s.Dir(), bound, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	unbind := sync.OnceValue(func() error { return unix.Unmount(bound, 0) })
	defer func() { _ = unbind() }()
	if err := s.Unmount(); !errors.Is(err, ErrDetached) {
		t.Fatalf("Unmount: %v, want ErrDetached", err)
	}
	wantText(t, bound)
	if err := unbind(); err != nil {
		t.Error(err)
	}
	s.Wait()
	if err := s.Unmount(); err != nil {
		t.Errorf("Unmount in the end: %v", err)
	}
}

// TestMountWhileProgramsStart checks that no program that is started meanwhile keeps a mount in use.
func TestMountWhileProgramsStart(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.FUSE(t)
	testneeds.Program(t, "sleep")
	ctx, stop := context.WithCancel(t.Context())
	var programs sync.WaitGroup
	defer programs.Wait()
	defer stop()
	programs.Go(func() {
		for ctx.Err() == nil {
			c := exec.CommandContext(ctx, "sleep", "60")
			if err := c.Start(); err != nil {
				return // it is over, or there are too many
			}
			programs.Go(func() { _ = c.Wait() })
		}
	})
	for range 30 {
		s := serve(t, t.TempDir(), textTree(), Options{})
		if err := s.Unmount(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnmountFromManyGoroutines(t *testing.T) {
	s := serve(t, t.TempDir(), textTree(), Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := s.Unmount(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestUnmountOfAbortedMount(t *testing.T) {
	s := serve(t, t.TempDir(), textTree(), Options{})
	open, err := os.Open(filepath.Join(s.Dir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()
	// Force cuts the connection, but a mount in use stays mounted.
	if err := unix.Unmount(s.Dir(), unix.MNT_FORCE); !errors.Is(err, syscall.EBUSY) {
		t.Skipf("cannot abort a connection: %v", err)
	}
	s.Wait()
	t.Cleanup(func() { _ = clearDead(s.Dir()) }) // if Unmount fails
	if !errors.Is(Probe(s.Dir()), ErrDead) {
		t.Fatal("the mount is not dead")
	}
	if err := s.Unmount(); err != nil {
		t.Error(err)
	}
	if Probe(s.Dir()) != nil || isOurs(s.Dir()) {
		t.Error("the dead mount is left behind")
	}
}

func TestAbandonLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	below, err := deviceOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, textTree(), Options{})
	if err := s.abandon(below); err != nil || !s.ended() || isOurs(dir) {
		t.Errorf("abandon: %v, ended: %v, still mounted: %v", err, s.ended(), isOurs(dir))
	}
}

func TestMountsDoNotStack(t *testing.T) {
	dir := t.TempDir()
	empty := nodetest.MemFiles(testTime, nil)
	serve(t, dir, empty, Options{})
	if s, err := Mount(t.Context(), dir, empty, Options{}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("the second Mount: %v", err)
		if err == nil {
			_ = s.Unmount()
		}
	}
	if err := CheckMountpoint(dir, os.Args[0]); err == nil {
		t.Error("CheckMountpoint takes a live mount")
	}
}

func TestMountOnAnEmptyMountOfOthers(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"); err != nil {
		t.Skipf("cannot mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	serve(t, dir, textTree(), Options{})
	wantText(t, dir)
}

func TestMountThroughLink(t *testing.T) {
	base := t.TempDir()
	link := filepath.Join(base, "to", "link")
	if err := errors.Join(os.Mkdir(filepath.Join(base, "real"), 0o700), os.Mkdir(filepath.Dir(link), 0o700),
		os.Symlink("../real", link)); err != nil {
		t.Fatal(err)
	}
	s := serve(t, link, textTree(), Options{})
	if want, _ := filepath.EvalSymlinks(link); s.Dir() != want {
		t.Errorf("mounted on %s, want %s", s.Dir(), want)
	}
	wantText(t, link)
	if err := s.Unmount(); err != nil {
		t.Error(err)
	}
}

func TestMountErrorsHaveTheirNumber(t *testing.T) {
	testneeds.FUSE(t)
	// The kernel takes one page of options; this is too long.
	o := Options{FsName: strings.Repeat("x", 3*os.Getpagesize())}
	s, err := Mount(t.Context(), t.TempDir(), textTree(), o)
	if err == nil {
		_ = s.Unmount()
		t.Skip("this kernel mounts everything")
	}
	if _, ok := errors.AsType[syscall.Errno](err); os.Geteuid() == 0 && !ok {
		t.Errorf("Mount: %v, want a number of the system", err)
	}
	if strings.ContainsRune(err.Error(), '\n') {
		t.Errorf("Mount: %q has more than one line", err)
	}
}

// TestOldKernel mounts without features of new kernels: it lists by handle, and drops
// inodes by name.
func TestOldKernel(t *testing.T) {
	const dirs, files, limit = 30, 40, 200
	var b nodetest.Builder
	for i := range dirs {
		dir := b.Dir(nodes.Root, testName(i))
		for j := range files {
			b.File(dir, testName(j), "text")
		}
	}
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	var debug bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&debug, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := serve(t, t.TempDir(), tree, Options{oldKernel: true, MaxInodes: limit, Logger: logger, Debug: true})
	for range 2 {
		if n := countFiles(t, s.Dir()); n != dirs*files {
			t.Errorf("%d files found, want %d", n, dirs*files)
		}
	}
	for try := 0; s.Stats().Inodes > limit && try < 500; try++ {
		time.Sleep(10 * time.Millisecond) // FORGETs arrive late
	}
	st := s.Stats()
	if st.Inodes > limit || st.Pruned == 0 || st.Forgets == 0 {
		t.Errorf("%d inodes left, %d to be dropped, %d forgotten", st.Inodes, st.Pruned, st.Forgets)
	}
	if st.Opendirs < 2*dirs || st.Errors != 0 {
		t.Errorf("%d directories opened, errors %v", st.Opendirs, st.LastErrors)
	}
	if err := s.Unmount(); err != nil {
		t.Fatal(err)
	}
	if log := debug.String(); !strings.Contains(log, "NOTIFY_INVAL_ENTRY") || strings.Contains(log, "NOTIFY_PRUNE") {
		t.Error("inodes are not dropped by name")
	}
}

func countFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		_, err = os.Stat(name)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

func TestFindMount(t *testing.T) {
	const mounts = "22 1 0:20 / / rw - ext4 /dev/vda rw\n" +
		"30 22 0:50 / /mnt/a\\040b rw shared:1 - fuse.lorefs some\\040-\\040source rw,user_id=1000,group_id=7\n" +
		"31 22 0:51 / /mnt/c rw - fuse.lorefs x rw\n" +
		"32 31 0:52 / /mnt/c rw - tmpfs x rw\n"
	for dir, want := range map[string]mounted{
		"/mnt/a b": {"fuse.lorefs", "0:50", "1000"}, "/mnt/c": {"tmpfs", "0:52", ""}, "/mnt": {}, "/": {"ext4", "0:20", ""},
	} {
		if got := findMount(mounts, dir); got != want {
			t.Errorf("on %s there is %+v, want %+v", dir, got, want)
		}
	}
}

func TestAllowsOther(t *testing.T) {
	for conf, want := range map[string]bool{
		"": false, "# user_allow_other\n": false, "mount_max = 5\n user_allow_other\n": true, "user_allow_other": true,
	} {
		if allowsOther(conf) != want {
			t.Errorf("allowsOther(%q) = %v", conf, !want)
		}
	}
}

func TestHelperError(t *testing.T) {
	failed := errors.New("exit status 1")
	for out, want := range map[string]bool{
		"fusermount3: failed to unmount /mnt/x: Device or resource busy\n": true,
		"fusermount3: entry for /mnt/busy not found in /etc/mtab\n":        false,
	} {
		err := helperError("fusermount3", out, failed)
		if errors.Is(err, syscall.EBUSY) != want || strings.HasSuffix(err.Error(), "\n") {
			t.Errorf("%q becomes %q", out, err)
		}
	}
}
