package main

import (
	"bytes"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
	"lorefs/cmd/internal/kinds/cdntest"
	"lorefs/cmd/internal/manual"
	"lorefs/internal/testneeds"
)

// cdnRun is a storage on two hosts, and the program that reads it.
type cdnRun struct {
	t      *testing.T
	large  *casctest.Large
	server *cdntest.Server
	cdn    *write.CDN
	dir    string
	n      int
	// oneHost leaves out the second host.
	oneHost bool
}

func newCDNRun(t *testing.T, n, archives int) *cdnRun {
	t.Helper()
	return newRun(t, n, archives, casctest.NewLargeCDN)
}

func newRun(t *testing.T, n, archives int, storage func(n, archives int) (*casctest.Large, *write.CDN, error)) *cdnRun {
	t.Helper()
	l, c, err := storage(n, archives)
	if err != nil {
		t.Fatal(err)
	}
	r := servedRun(t, c)
	r.large, r.n = l, n
	if err := os.WriteFile(filepath.Join(r.dir, "list.csv"), []byte(l.List), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// servedRun serves a storage whose files have names.
func servedRun(t *testing.T, c *write.CDN) *cdnRun {
	t.Helper()
	r := &cdnRun{t: t, server: cdntest.Start(2, c, "1.0.0.1"), cdn: c, dir: t.TempDir()}
	t.Cleanup(r.server.Close)
	return r
}

// command returns a command that reads the storage with a folder for what is fetched.
func (r *cdnRun) command(cache, name string, args ...string) *exec.Cmd {
	all := []string{name, "--version-host", r.server.VersionHost(), "--cache-dir", cache}
	if r.large != nil {
		all = append(all, "--listfile", filepath.Join(r.dir, "list.csv"))
	}
	for i, h := range r.server.Hosts() {
		if i == 0 || !r.oneHost {
			all = append(all, "--host", h)
		}
	}
	c := exec.CommandContext(r.t.Context(), "lorefs", append(append(all, "cdn:"+cdntest.Product), args...)...)
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(r.dir, "cache")) // the same storage is read elsewhere
	return c
}

// checkTree compares exported files with what they should be.
func (r *cdnRun) checkTree(dir string) {
	r.t.Helper()
	numbers := map[string]int{}
	for i := range r.n {
		numbers[path.Base(r.large.Find(i))] = i
	}
	err := filepath.WalkDir(dir, func(name string, d iofs.DirEntry, err error) error {
		i, ok := numbers[filepath.Base(name)]
		if err != nil || d.IsDir() || !ok {
			return err
		}
		delete(numbers, filepath.Base(name))
		got, err := os.ReadFile(name)
		if err == nil && !bytes.Equal(got, casctest.LargeContent(i)) {
			err = fmt.Errorf("%s: %x", name, got)
		}
		return err
	})
	if err != nil || len(numbers) > 0 {
		r.t.Fatalf("%s: %v, and %d files are missing", dir, err, len(numbers))
	}
}

// recipe is the block of commands of the guide about CASC that exports texts of a game.
var recipe = regexp.MustCompile("(?s)### The texts of a game.*?\n```\n(.*?)```")

// TestCDNRecipe runs that for another product, and again when there is no host any more.
func TestCDNRecipe(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	r := newCDNRun(t, 400, 2)
	commands := ""
	for _, g := range manual.Guides() {
		if m := recipe.FindStringSubmatch(g.Markdown); m != nil {
			commands = strings.NewReplacer("cdn:hero", "cdn:"+cdntest.Product, "files/mods", "files", "enus.stormdata/**/*.txt", "*.m2").Replace(m[1])
		}
	}
	run := func() string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "sh", "-ec", commands)
		c.Dir = r.dir
		c.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(r.dir, "cache"), "LOREFS_VERSION_HOST="+r.server.VersionHost(),
			"LOREFS_HOST="+r.server.Hosts()[0], "LOREFS_LISTFILE="+filepath.Join(r.dir, "list.csv"))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := run(); !regexp.MustCompile(`(?m)^[1-9]\d* files, \d+ bytes$`).MatchString(out) {
		t.Errorf("the first run: %s", out)
	}
	same := regexp.MustCompile(`(?m)^0 files, 0 bytes; [1-9]\d* the same$`)
	if out := run(); !same.MatchString(out) {
		t.Errorf("the second run: %s", out)
	}
	r.server.Close()
	if out := run(); !same.MatchString(out) {
		t.Errorf("without hosts: %s", out)
	}
}

// TestCDNKilled kills processes while they write to the folder of what is fetched, and while they
// trim it: what is read then is right, and so is a mirror.
func TestCDNKilled(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	r := newCDNRun(t, 800, 3)
	cache, part := filepath.Join(r.dir, "fetched"), filepath.Join(r.dir, "mirror")
	random := rand.New(rand.NewPCG(18, 1))
	for kill := range testneeds.Cases(4, 50, 1000) {
		args := []string{"verify"} // which reads everything
		if kill%2 == 1 {
			args = []string{"fetch", part}
		}
		c := r.command(cache, args[0], append([]string{"--cache-limit", "300KB"}, args[1:]...)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30*time.Millisecond + time.Duration(random.Int64N(int64(400*time.Millisecond))))
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
		at := random.IntN(r.n)
		got, err := r.command(cache, "cat", r.large.Find(at)).Output()
		if err != nil || !bytes.Equal(got, casctest.LargeContent(at)) {
			t.Fatalf("after kill %d: %s: %x, %v", kill, r.large.Find(at), got, err)
		}
	}
	if out, err := r.command(cache, "fetch", part).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "lorefs", "verify", part).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestCDNProcesses has eight processes use one folder of what is fetched, which is too small for
// them.
func TestCDNProcesses(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	r := newCDNRun(t, 400, 3)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			cache := filepath.Join(r.dir, "fetched")
			if out, err := r.command(cache, "verify", "--cache-limit", "200KB").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			if out, err := r.command(cache, "export", "--cache-limit", "200KB", filepath.Join(r.dir, fmt.Sprint("out", i))).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	for i := range 8 {
		r.checkTree(filepath.Join(r.dir, fmt.Sprint("out", i)))
	}
}

// TestCDNFullDisk has no room for what is fetched: it goes on, and the log says so.
func TestCDNFullDisk(t *testing.T) {
	r := newCDNRun(t, 400, 3)
	disk := filepath.Join(r.dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	if out, err := r.command(filepath.Join(disk, "fetched"), "verify").CombinedOutput(); err != nil { // which logs nothing
		t.Errorf("%v: %s", err, out)
	}
	out, err := r.command(filepath.Join(disk, "fetched"), "export", filepath.Join(r.dir, "out")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "nothing is kept in the cache") {
		t.Errorf("%v: %s", err, out)
	}
	r.checkTree(filepath.Join(r.dir, "out"))
}

// BenchmarkCDNExport exports 660 MB in files of all sizes from hosts on this machine, and from a
// folder with the same.
func BenchmarkCDNExport(b *testing.B) {
	const total = 660 << 20
	random := rand.New(rand.NewPCG(18, 2))
	var w write.Builder
	var files []root.File
	for size := int64(0); size < total; {
		n := 1 << (10 + random.IntN(13))
		content := bltetest.Noise(n, uint64(size))
		var chunks []blte.Chunk
		for at := 0; at < n; at += 256 << 10 {
			chunks = append(chunks, blte.Chunk{Content: content[at:min(at+256<<10, n)]})
		}
		s := w.AddChunks("b:{256K*=n}", blte.WriteOptions{}, chunks...)
		files = append(files, root.File{Name: fmt.Sprintf("d%02d/%06d.bin", len(files)%50, len(files)), CKey: s.CKey})
		size += int64(n)
	}
	w.Root(w.Add(write.TextRoot(files)))
	install := w
	local, err := install.Install()
	if err != nil {
		b.Fatal(err)
	}
	c, err := w.CDN(20)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	game := filepath.Join(dir, "game")
	if err := local.Write(game); err != nil {
		b.Fatal(err)
	}
	s := cdntest.Start(2, c, "1.0.0.1")
	defer s.Close()
	b.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	host := func(late time.Duration) []string {
		s.Objects.SetLate(late)
		return []string{"--host", s.Hosts()[0], "--host", s.Hosts()[1], "--version-host", s.VersionHost(), "--cache-dir", filepath.Join(dir, "fetched"), "cdn:" + cdntest.Product}
	}
	for _, from := range []struct {
		name   string
		source []string
	}{{"folder", []string{game}}, {"loopback", host(0)}, {"loopback, 20 ms late", nil}} {
		b.Run(from.name, func(b *testing.B) {
			if from.source == nil {
				from.source = host(20 * time.Millisecond)
			}
			for b.Loop() {
				b.StopTimer()
				for _, old := range []string{"out", "fetched", "cache"} {
					if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				cmd := exec.CommandContext(b.Context(), "lorefs", append(append([]string{"export"}, from.source...), filepath.Join(dir, "out"), "files")...)
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
			b.SetBytes(total)
		})
	}
}
