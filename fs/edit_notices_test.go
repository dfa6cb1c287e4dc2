//go:build linux

package fs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// eventually waits for the effect of a notice.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%s: not seen after two seconds", what)
}

func has(want string, path ...string) func() bool {
	return func() bool {
		got, err := os.ReadFile(filepath.Join(path...))
		info, statErr := os.Stat(filepath.Join(path...))
		return err == nil && statErr == nil && string(got) == want && info.Size() == int64(len(want))
	}
}

func gone(path ...string) func() bool {
	return func() bool { _, err := os.Stat(filepath.Join(path...)); return errors.Is(err, os.ErrNotExist) }
}

// TestTreeChangesByItself checks that the kernel's caches follow the tree.
func TestTreeChangesByItself(t *testing.T) {
	for name, o := range map[string]fs.Options{"": {}, "old kernel": fs.OnOldKernel(fs.Options{})} {
		t.Run(name, func(t *testing.T) {
			dir, _, tree := editable(t, map[string]string{"d/x": "one", "d/y": "two", "d/e/": ""}, o)
			d, err := tree.Lookup(t.Context(), nodes.Root, "d")
			if err != nil {
				t.Fatal(err)
			}
			x, err := tree.Lookup(t.Context(), d.ID, "x")
			if err != nil {
				t.Fatal(err)
			}
			lists(t, filepath.Join(dir, "d"), "e", "x", "y")
			holds(t, "one", dir, "d", "x")
			holds(t, "two", dir, "d", "y")
			kept := open(t, os.O_RDONLY, dir, "d", "y")
			home, err := os.Stat(filepath.Join(dir, "d", "e"))
			if err != nil || !gone(dir, "d", "z")() {
				t.Fatal(err)
			}
			for _, content := range []string{"longer", "s"} {
				tree.Put(x.ID, content)
				eventually(t, "content", has(content, dir, "d", "x"))
			}
			tree.Replace(d.ID, "y", "other", false)
			eventually(t, "another file", has("other", dir, "d", "y"))
			reads(t, kept, "two")
			tree.Replace(d.ID, "z", "new", false)
			eventually(t, "a new file", has("new", dir, "d", "z"))
			tree.Replace(d.ID, "x", "any", true)
			eventually(t, "any name", has("any", dir, "d", "x"))
			tree.Drop(d.ID, "y")
			eventually(t, "a file less", gone(dir, "d", "y"))
			lists(t, filepath.Join(dir, "d"), "e", "x", "z")
			tree.Drop(d.ID, "e")
			eventually(t, "a directory less", gone(dir, "d", "e"))
			if again, err := os.Stat(filepath.Join(dir, "d")); err != nil || !again.ModTime().After(home.ModTime()) {
				t.Errorf("the directory has the time it had, %v", err)
			}
		})
	}
}

// TestSettle checks that after Settle the mount shows what the tree has changed, at once.
func TestSettle(t *testing.T) {
	dir, server, tree := editable(t, map[string]string{"d/e/": ""}, fs.Options{})
	d, err := tree.Lookup(t.Context(), nodes.Root, "d")
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		tree.Replace(d.ID, "x", "new", false)
		server.Settle(t.Context())
		holds(t, "new", dir, "d", "x")
		tree.Drop(d.ID, "x")
		server.Settle(t.Context())
		if !gone(dir, "d", "x")() {
			t.Fatal("the kernel still has a name that is gone")
		}
	}
	tree.Replace(d.ID, "x", "new", false)
	if err := server.Unmount(); err != nil {
		t.Fatal(err)
	}
	tree.Drop(d.ID, "x")
	server.Settle(t.Context()) // must not wait for what nobody delivers
}

// TestAppendsToWhatChanged checks that what is appended goes behind what the tree has written
// meanwhile. The kernel appends behind the size that it knew last, even if it was told since that
// this is no more so.
func TestAppendsToWhatChanged(t *testing.T) {
	for _, now := range []string{"shrunk\n", "grown to more than it had\n"} {
		dir, _, tree := editable(t, map[string]string{"x": "one and two\n"}, fs.Options{})
		x, err := tree.Lookup(t.Context(), nodes.Root, "x")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			eventually(t, "the file", has("one and two\n", dir, "x"))
			tree.Put(x.ID, now)
			time.Sleep(time.Duration(i) * 5 * time.Millisecond) // the notice comes before or behind
			f := open(t, os.O_WRONLY|os.O_APPEND, dir, "x")
			for _, text := range []string{"three\n", "four\n"} {
				if _, err := f.WriteString(text); err != nil {
					t.Error(err)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			holds(t, now+"three\nfour\n", dir, "x")
			tree.Put(x.ID, "one and two\n")
		}
	}
}

// TestManyChanges reports far more changes than the queue holds.
func TestManyChanges(t *testing.T) {
	testneeds.Seconds(t)
	const dirs, files = 30, 300
	content := map[string]string{}
	for i := range dirs {
		for j := range files {
			content[fmt.Sprintf("%02d/%03d", i, j)] = "old"
		}
	}
	dir, s, tree := editable(t, content, fs.Options{NoXattr: true})
	run(t, "grep", "-rc", "old", dir)
	for e, err := range nodes.Walk(t.Context(), tree, nodes.Root) {
		if err == nil && e.Kind == nodes.File && strings.HasSuffix(e.Path, "7") {
			tree.Put(e.ID, "new content")
		}
	}
	for e, err := range tree.ReadDir(t.Context(), nodes.Root, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for j := range files / 2 {
			tree.Replace(e.ID, fmt.Sprintf("%03d", j), "replaced", j%2 == 0)
		}
	}
	eventually(t, "all changes", func() bool {
		out, _ := exec.Command("grep", "-rh", ".", dir).Output()
		count := func(text string) int { return bytes.Count(out, []byte(text)) }
		const rest = dirs * files / 2
		return count("replaced") == rest && count("new content") == rest/10 && count("old") == rest-rest/10
	})
	if st := s.Stats(); st.Errors != 0 {
		t.Errorf("errors: %+v", st.LastErrors)
	}
}

// TestPrimingWhileWriting reads trees, which primes them, while files are written through
// the mount and by the tree. No reader may see anything older than the last write before.
func TestPrimingWhileWriting(t *testing.T) {
	testneeds.Seconds(t)
	const dirs, files = 20, 50
	content := map[string]string{}
	for i := range dirs {
		for j := range files {
			content[fmt.Sprintf("%02d/%02d", i, j)] = "0\n"
		}
	}
	dir, s, tree := editable(t, content, fs.Options{NoXattr: true, MaxInodes: 300})
	deadline := time.Now().Add(stressTime(t))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for time.Now().Before(deadline) {
				_ = exec.Command("grep", "-rc", "x", dir).Run()
			}
		})
	}
	for w := range 4 { // each has files of its own
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(w)))
			latest := map[string]string{}
			for i := 1; time.Now().Before(deadline) && !t.Failed(); i++ {
				name := fmt.Sprintf("%02d/%02d", r.IntN(dirs), 4*r.IntN(files/4)+w)
				old, err := os.ReadFile(filepath.Join(dir, name))
				if want, ok := latest[name]; err != nil || (ok && string(old) != want) {
					t.Errorf("%s has %q, %v; want %q", name, old, err, want)
				}
				latest[name] = strings.Repeat(fmt.Sprint(i), 1+i%20) + "\n"
				if err := os.WriteFile(filepath.Join(dir, name), []byte(latest[name]), 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if st := s.Stats(); st.Errors != 0 || st.Primed == 0 {
		t.Errorf("%d files are primed; errors: %+v", st.Primed, st.LastErrors)
	}
	// The tree's own changes are seen in the end.
	for e, err := range nodes.Walk(t.Context(), tree, nodes.Root) {
		if err == nil && e.Kind == nodes.File {
			tree.Put(e.ID, "end")
		}
	}
	eventually(t, "the end", func() bool {
		out, _ := exec.Command("grep", "-rlx", "end", dir).Output()
		return bytes.Count(out, []byte("\n")) == dirs*files
	})
}

// stressTime returns how long the stress tests go on.
func stressTime(t *testing.T) time.Duration {
	t.Helper()
	if testneeds.Quick() {
		return time.Second
	}
	return 2 * time.Second
}

// TestPruningWhileEditing creates, renames, removes and lists files while the kernel drops
// inodes all the time.
func TestPruningWhileEditing(t *testing.T) {
	testneeds.Seconds(t)
	for name, o := range map[string]fs.Options{"": {MaxInodes: 40}, "old kernel": fs.OnOldKernel(fs.Options{MaxInodes: 40})} {
		t.Run(name, func(t *testing.T) {
			content := map[string]string{}
			for i := range 400 {
				content[fmt.Sprintf("many/%d/%d", i%20, i)] = "text"
			}
			o.NoXattr = true
			dir, s, tree := editable(t, content, o)
			deadline := time.Now().Add(stressTime(t))
			var wg sync.WaitGroup
			for w := range 4 {
				wg.Go(func() { lifeOfFiles(t, filepath.Join(dir, fmt.Sprint("own", w)), deadline) })
			}
			wg.Go(func() {
				for time.Now().Before(deadline) {
					_ = exec.Command("ls", "-lR", dir).Run() // names go while it lists
				}
			})
			wg.Wait()
			if n := settled(s, 60); n > 60 {
				t.Errorf("%d inodes are left", n)
			}
			st := s.Stats()
			if st.Pruned == 0 || len(st.LastErrors) != 0 {
				t.Errorf("%d pruned; errors: %+v", st.Pruned, st.LastErrors)
			}
			nodetest.RunMounted(t, dir, tree)
		})
	}
}

// lifeOfFiles makes a directory with files that are renamed, replaced, removed and held
// open.
func lifeOfFiles(t *testing.T, home string, deadline time.Time) {
	for i := 0; time.Now().Before(deadline) && !t.Failed(); i++ {
		content := fmt.Sprint("content ", i)
		sub := filepath.Join(home, "sub")
		a, b, c := filepath.Join(home, "a"), filepath.Join(sub, "b"), filepath.Join(home, "moved", "c")
		err := errors.Join(os.MkdirAll(sub, 0o700), os.WriteFile(a, []byte("old"), 0o600), os.WriteFile(b, []byte(content), 0o600))
		if err != nil {
			t.Error(err)
			return
		}
		f, err := os.OpenFile(a, os.O_RDWR, 0)
		if err != nil {
			t.Error(err)
			return
		}
		err = errors.Join(os.Rename(b, a), os.Rename(sub, filepath.Join(home, "moved")), os.Rename(a, c))
		if _, writeErr := f.WriteAt([]byte("OLD!"), 0); err != nil || writeErr != nil {
			t.Error(err, writeErr)
		}
		p := make([]byte, 9)
		if n, _ := f.ReadAt(p, 0); string(p[:n]) != "OLD!" {
			t.Errorf("a replaced file has %q", p[:n])
		}
		if got, err := os.ReadFile(c); string(got) != content {
			t.Errorf("%s has %q, %v; want %q", c, got, err, content)
		}
		if err := errors.Join(f.Close(), os.RemoveAll(home)); err != nil {
			t.Error(err)
		}
	}
}

// TestManyProcesses edits different files and the same files from 16 processes.
func TestManyProcesses(t *testing.T) {
	testneeds.Seconds(t)
	const processes, rounds = 16, 12
	dir, s, tree := editable(t, map[string]string{"log": "", "last": "", "d/": ""}, fs.Options{})
	var wg sync.WaitGroup
	var failed atomic.Bool
	for p := range processes {
		wg.Go(func() {
			script := fmt.Sprintf(`M=%s P=%d i=0
				while [ $i -lt %d ]; do
					echo $P.$i >> $M/log
					echo $P.$i > $M/last
					echo $P.$i > $M/d/$P
					echo $P.$i > $M/d/tmp$P; mv $M/d/tmp$P $M/d/shared
					test "$(cat $M/d/$P)" = $P.$i || echo lost
					mkdir $M/d/dir 2>/dev/null || true; rmdir $M/d/dir 2>/dev/null || true
					i=$((i+1))
				done`, dir, p, rounds)
			if out, err := exec.Command("sh", "-ec", script).CombinedOutput(); err != nil || len(out) > 0 {
				if !failed.Swap(true) {
					t.Errorf("process %d: %v: %s", p, err, out)
				}
			}
		})
	}
	wg.Wait()
	for p := range processes {
		want := fmt.Sprintf("%d.%d\n", p, rounds-1)
		holds(t, want, dir, "d", fmt.Sprint(p))
		if got := inTree(t, tree, "d", fmt.Sprint(p)); got != want {
			t.Errorf("the tree has %q for process %d", got, p)
		}
	}
	if log := inTree(t, tree, "log"); strings.Count(log, "\n") != processes*rounds {
		t.Errorf("the log has %d lines, want %d", strings.Count(log, "\n"), processes*rounds)
	}
	nodetest.RunMounted(t, dir, tree)
	if st := s.Stats(); len(st.LastErrors) != 0 {
		t.Errorf("errors: %+v", st.LastErrors)
	}
}

// TestNoRoom checks how a full disk shows, and that everything is still listed.
func TestNoRoom(t *testing.T) {
	dir, s := fusetest.Serve(t, full{nodetest.NewMutable(map[string]string{"x": "text"})}, fs.Options{ReadWrite: true})
	f := open(t, os.O_WRONLY, dir, "x")
	if _, err := f.WriteString("more"); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("fsync: %v, want ENOSPC", err)
	}
	for i := range 12 {
		if err := os.Mkdir(filepath.Join(dir, fmt.Sprint(i)), 0); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("mkdir: %v, want ENOSPC", err)
		}
	}
	errs := s.Stats().LastErrors
	if len(errs) != 13 || errs[0].Op != "fsync" || errs[0].Path != "/x" || errs[12].Path != "/11" || errs[12].Op != "mkdir" {
		t.Errorf("errors: %+v", errs)
	}
}

// full is a tree whose journal has no room.
type full struct{ *nodetest.Mutable }

func (full) Mkdir(context.Context, nodes.ID, string) (nodes.Entry, error) {
	return nodes.Entry{}, fmt.Errorf("the journal: %w", &os.PathError{Op: "write", Path: "/state/journal", Err: syscall.EDQUOT})
}

func (f full) OpenWrite(ctx context.Context, id nodes.ID) (nodes.Writer, error) {
	w, err := f.Mutable.OpenWrite(ctx, id)
	return fullWriter{w}, err
}

type fullWriter struct{ nodes.Writer }

func (fullWriter) Sync(context.Context) error { return fmt.Errorf("the journal: %w", nodes.ErrNoSpace) }
