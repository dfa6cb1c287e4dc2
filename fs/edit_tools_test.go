//go:build linux

package fs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// numbersOnly accepts decimal numbers, and anything for scratch files.
func numbersOnly(name string, content []byte) error {
	text := strings.TrimSuffix(string(content), "\n")
	scratch := strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.ContainsAny(name, ".") || strings.HasPrefix(name, "sed")
	if !scratch && (text == "" || strings.Trim(text, "0123456789") != "") {
		return fmt.Errorf("%q is no number: %w", content, nodes.ErrInvalid)
	}
	return nil
}

// strict returns a tree of files that hold numbers.
func strict() *nodetest.Mutable {
	m := nodetest.NewMutable(map[string]string{"d/x": "1002\n", "d/y": "7\n", "e/": ""})
	m.Valid = numbersOnly
	return m
}

// shell runs a script with the mount as $M and another file system as $T. Its working
// directory is not in the mount, see run.
func shell(t *testing.T, mount, script string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "LC_ALL=C", "M="+mount, "T="+cmd.Dir, "HOME="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestTools edits with the tools of users. Each has to leave 42 in the file.
func TestTools(t *testing.T) {
	for _, c := range []struct{ name, program, script string }{
		{"echo", "sh", `echo 42 > $M/d/x`},
		{"echo into a new file", "sh", `rm $M/d/x; echo 42 > $M/d/x`},
		{"append", "sh", `printf 4 > $M/d/x; echo 2 >> $M/d/x`},
		{"tee", "tee", `echo 42 | tee $M/d/x`},
		{"cp", "cp", `echo 42 > $T/n; cp $T/n $M/d/x`},
		{"cp -a", "cp", `echo 42 > $T/n; cp -a $T/n $M/d/x`},
		{"cp -a of a tree", "cp", `mkdir $T/n; echo 42 > $T/n/x; rm -r $M/d; cp -a $T/n $M/d; test "$(ls $M/d)" = x`},
		{"dd", "dd", `echo 42 | dd of=$M/d/x`},
		{"dd in place", "dd", `printf 42 > $M/d/x; printf '\n' | dd of=$M/d/x bs=1 seek=2 conv=notrunc`},
		{"truncate", "truncate", `echo 4200 > $M/d/x; truncate -s 2 $M/d/x; echo >> $M/d/x`},
		{"sed -i", "sed", `sed -i s/1002/42/ $M/d/x`},
		{"perl -pi", "perl", `perl -pi -e s/1002/42/ $M/d/x`},
		{"perl -pi.bak", "perl", `perl -pi.bak -e s/1002/42/ $M/d/x; grep 1002 $M/d/x.bak`},
		{"rsync", "rsync", `mkdir $T/d; echo 42 > $T/d/x; rsync -a $T/d/ $M/d/`},
		{"rsync --inplace", "rsync", `echo 42 > $T/x; rsync --inplace $T/x $M/d/x`},
		{"vim", "vim", `vim -es -u NONE -c 's/1002/42/' -c wq $M/d/x`},
		{"vim with backups", "vim", `vim -es -u NONE -c 'set backup backupskip= backupcopy=no' -c 's/1002/42/' -c wq $M/d/x; cat $M/d/x~`},
		{"mv from outside", "mv", `echo 42 > $T/n; mv $T/n $M/d/x; ! test -e $T/n`},
		{"mv", "mv", `echo 42 > $M/e/n; mv $M/e/n $M/d/x; ! test -e $M/e/n`},
		{"mv of a directory", "mv", `mv $M/d $M/f; echo 42 > $M/f/x; mv $M/f $M/d`},
		{"install", "install", `echo 42 > $T/n; install -m 600 $T/n $M/d/x`},
		{"patch", "patch", `printf -- '--- x\n+++ x\n@@ -1 +1 @@\n-1002\n+42\n' > $T/p; patch $M/d/x $T/p`},
		{"tar", "tar", `mkdir $T/d; echo 42 > $T/d/x; tar -C $T -cf - d | tar -C $M -xf -`},
		{"python", "python3", `python3 -c "with open('$M/d/x', 'w') as f: f.write('42\n')"`},
		{"python r+", "python3", `python3 -c "
with open('$M/d/x', 'r+') as f:
    assert f.read() == '1002\n'
    f.seek(0); f.write('42\n'); f.truncate()"`},
		{"touch and chmod", "touch", `echo 42 > $M/d/x; touch -d @1000000000 $M/d/x; chmod 600 $M/d/x; chown 0:0 $M/d/x
			test $(stat -c %Y:%a $M/d/x) = 1000000000:644; touch $M/d/new; test $(stat -c %s $M/d/new) = 0; rm $M/d/new`},
		{"sync", "sync", `echo 42 > $M/d/x; sync $M/d/x; sync $M`},
	} {
		for name, old := range map[string]bool{"": false, " on an old kernel": true} {
			t.Run(c.name+name, func(t *testing.T) {
				testneeds.Program(t, c.program)
				o := fs.Options{ReadWrite: true}
				if old {
					o = fs.OnOldKernel(o)
				}
				tree := strict()
				dir, s := fusetest.Serve(t, tree, o)
				if out, err := shell(t, dir, c.script); err != nil {
					t.Fatalf("%v: %s; errors: %+v", err, out, s.Stats().LastErrors)
				}
				if got := inTree(t, tree, "d", "x"); got != "42\n" {
					t.Errorf("the tree has %q", got)
				}
				if got, err := os.ReadFile(filepath.Join(dir, "d", "x")); string(got) != "42\n" || err != nil {
					t.Errorf("the mount has %q, %v", got, err)
				}
				if st := s.Stats(); len(st.LastErrors) != 0 {
					t.Errorf("errors: %+v", st.LastErrors)
				}
			})
		}
	}
}

// inTree reads a file past the mount.
func inTree(t *testing.T, tree nodes.Tree, path ...string) string {
	t.Helper()
	e := nodes.Entry{ID: nodes.Root}
	for _, name := range path {
		var err error
		if e, err = tree.Lookup(t.Context(), e.ID, name); err != nil {
			t.Fatal(err)
		}
	}
	p, err := nodetest.ReadFile(t.Context(), tree, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}

// TestWhoReports checks that a refused value is reported where the tool looks, and that the
// value before stays.
func TestWhoReports(t *testing.T) {
	for _, c := range []struct {
		name, program, script string
		// silent is for shells, which ignore the result of close(2).
		silent bool
	}{
		{"echo", "sh", `echo seven > $M/d/x`, true},
		{"tee", "tee", `echo seven | tee $M/d/x`, false},
		{"cp", "cp", `echo seven > $T/n; cp $T/n $M/d/x`, false},
		{"dd", "dd", `echo seven | dd of=$M/d/x`, false},
		{"python", "python3", `python3 -c "f = open('$M/d/x', 'w'); f.write('seven'); f.close()"`, false},
		{"sed -i", "sed", `sed -i s/1002/seven/ $M/d/x`, false},
		{"rsync", "rsync", `echo seven > $T/x; rsync $T/x $M/d/x`, false},
		{"mv", "mv", `echo seven > $M/d/.n; mv $M/d/.n $M/d/x`, false},
		{"vim", "vim", `vim -es -u NONE -c 'set nowritebackup' -c 's/1002/seven/' -c wq $M/d/x`, false},
		{"truncate(2)", "python3", `python3 -c "import os; os.truncate('$M/d/x', 0)"`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			testneeds.Program(t, c.program)
			tree := strict()
			dir, s := fusetest.Serve(t, tree, fs.Options{ReadWrite: true})
			out, err := shell(t, dir, "cat $M/d/x >/dev/null\n"+c.script)
			if silent := err == nil; silent != c.silent {
				t.Errorf("it says %v: %s", err, out)
			}
			// The kernel's pages must be as before, too.
			for range 2 {
				if got, err := os.ReadFile(filepath.Join(dir, "d", "x")); string(got) != "1002\n" || err != nil {
					t.Errorf("the mount has %q, %v", got, err)
				}
			}
			if got := inTree(t, tree, "d", "x"); got != "1002\n" {
				t.Errorf("the tree has %q", got)
			}
			errs := s.Stats().LastErrors
			if len(errs) == 0 || errs[0].Path != "/d/x" || !strings.Contains(errs[0].Err, "is no number") {
				t.Errorf("errors: %+v", errs)
			}
		})
	}
}

// TestRefusedAtOnce checks errors of WRITE.
func TestRefusedAtOnce(t *testing.T) {
	dir, s := fusetest.Serve(t, nodetest.NewMutable(map[string]string{"x": "text"}), fs.Options{ReadWrite: true})
	f, err := os.OpenFile(filepath.Join(dir, "x"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	p := make([]byte, 6)
	if n, _ := f.ReadAt(p, 0); n != 4 {
		t.Errorf("read %d bytes", n)
	}
	if _, err := f.WriteAt([]byte("beyond"), 1<<30); err == nil || !strings.Contains(err.Error(), syscall.EFBIG.Error()) {
		t.Errorf("WRITE: %v, want EFBIG", err)
	}
	if err := f.Truncate(1 << 30); err == nil || !strings.Contains(err.Error(), syscall.EFBIG.Error()) {
		t.Errorf("ftruncate: %v, want EFBIG", err)
	}
	if n, _ := f.ReadAt(p, 0); string(p[:n]) != "text" {
		t.Errorf("after that the file has %q", p[:n])
	}
	if errs := s.Stats().LastErrors; len(errs) != 2 || errs[0].Path != "/x" || errs[0].Op != "write" || errs[1].Op != "truncate" {
		t.Errorf("errors: %+v", errs)
	}
}

// TestEditRequests counts requests of tools. Each edits a file that was read before.
func TestEditRequests(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         fs.Stats
	}{
		// At a writable mount, the kernel asks once for the access time of what was read or
		// listed.
		{"read again", `cat $M/d/x; cat $M/d/x`, fs.Stats{Getattrs: 1, Opens: 2, Releases: 2}},
		{"echo", `echo 42 > $M/d/x`, fs.Stats{Opens: 1, Flushes: 2, Writes: 1, Releases: 1}},
		{"append", `printf 42 >> $M/d/x`, fs.Stats{Opens: 1, Flushes: 2, Writes: 1, Releases: 1}},
		{"mv", `mv $M/d/x $M/d/z`, fs.Stats{Lookups: 1, Renames: 1}},
		{"rm", `rm $M/d/x`, fs.Stats{Getattrs: 1, Removes: 1}},
		{"touch", `touch $M/d/x`, fs.Stats{Opens: 1, Setattrs: 1, Flushes: 2, Releases: 1}},
		{"create", `echo 42 > $M/d/new`, fs.Stats{Lookups: 1, Creates: 1, Flushes: 2, Writes: 1, Releases: 1}},
		{"mkdir", `mkdir $M/d/new`, fs.Stats{Lookups: 1, Creates: 1}},
		{"list again", `ls -lR $M; ls -lR $M; find $M`, fs.Stats{Getattrs: 2}},
		{"sed -i", `sed -i s/1002/42/ $M/d/x`, fs.Stats{
			Lookups: 2, Getattrs: 2, Opens: 1, Creates: 1, Renames: 1, Setattrs: 2, Writes: 1, Flushes: 1, Releases: 2,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := nodetest.NewMutable(map[string]string{"d/x": "1002\n"})
			dir, s := fusetest.Serve(t, tree, fs.Options{ReadWrite: true, NoXattr: true, NoPrime: true})
			if _, err := shell(t, dir, `ls -lR $M; cat $M/d/x`); err != nil {
				t.Fatal(err)
			}
			waitReleased(s, 1)
			before := s.Stats()
			if out, err := shell(t, dir, c.script); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			waitReleased(s, before.Releases+c.want.Releases)
			st := s.Stats()
			got := fs.Stats{
				Lookups: st.Lookups - before.Lookups, Getattrs: st.Getattrs - before.Getattrs, Opens: st.Opens - before.Opens,
				Readdirs: st.Readdirs - before.Readdirs, Reads: st.Reads - before.Reads, Creates: st.Creates - before.Creates,
				Removes: st.Removes - before.Removes, Renames: st.Renames - before.Renames, Setattrs: st.Setattrs - before.Setattrs,
				Writes: st.Writes - before.Writes, Flushes: st.Flushes - before.Flushes, Releases: st.Releases - before.Releases,
			}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("requests %+v, want %+v", got, c.want)
			}
		})
	}
}

// waitReleased waits until n files are released, which close(2) does not wait for.
func waitReleased(s *fs.Server, n uint64) {
	for range 1000 {
		if s.Stats().Releases >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
