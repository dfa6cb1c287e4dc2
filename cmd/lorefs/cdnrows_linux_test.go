package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"lorefs/casc/casctest/write"
	"lorefs/casc/keys"
	"lorefs/internal/remote/remotetest"
	"lorefs/internal/testneeds"
)

// askedOfArchives returns how many requests were for parts of archives, and how many of them for
// large ones.
func (r *cdnRun) askedOfArchives() (parts, large int) {
	for _, q := range r.server.Objects.Requests() {
		if size := rangeSize(q.Range); size > 0 && r.inArchive(q.Path) {
			parts++
			if size > largePart {
				large++
			}
		}
	}
	return parts, large
}

// inArchive reports whether a path is that of an archive.
func (r *cdnRun) inArchive(at string) bool {
	return slices.ContainsFunc(r.cdn.Archives, func(key keys.Key) bool { return path.Base(at) == key.String() })
}

// largePart is more than any file of the storage has, in bytes.
const largePart = 4 << 10

func rangeSize(text string) int64 {
	first, last := int64(0), int64(-1)
	if _, err := fmt.Sscanf(text, "bytes=%d-%d", &first, &last); err != nil {
		return 0
	}
	return last - first + 1
}

// TestCDNTogether exports and fetches many small files, which lie in a few archives.
func TestCDNTogether(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	for _, how := range [][]string{{"export"}, {"fetch"}} {
		t.Run(how[0], func(t *testing.T) {
			r := newCDNRun(t, 1000, 3)
			out := filepath.Join(r.dir, "out")
			if text, err := r.command(filepath.Join(r.dir, "fetched"), how[0], out).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			parts, large := r.askedOfArchives()
			t.Logf("%d requests for parts, %d of them large", parts, large)
			if parts > 20 || large == 0 {
				t.Errorf("%d requests for 1,000 files in 3 archives: %v", parts, r.server.Objects.Requests())
			}
			if how[0] == "export" {
				r.checkTree(out)
			}
		})
	}
}

// TestCDNTogetherWrong has a host send a wrong byte in a part of an archive: only the file that has
// it is asked for again, of another host.
func TestCDNTogetherWrong(t *testing.T) {
	t.Parallel()
	r := newCDNRun(t, 1000, 3)
	var wrong atomic.Bool
	var spoiled string
	r.server.Objects.SetFault(func(q remotetest.Request) remotetest.Fault {
		if rangeSize(q.Range) > largePart && r.inArchive(q.Path) && !wrong.Swap(true) {
			spoiled = fmt.Sprint(q.Host)
			return remotetest.WrongBytes
		}
		return remotetest.None
	})
	out := filepath.Join(r.dir, "out")
	if text, err := r.command(filepath.Join(r.dir, "fetched"), "export", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	r.checkTree(out)
	if !wrong.Load() {
		t.Fatal("no host sent anything wrong")
	}
	again := 0
	for _, q := range r.server.Objects.Requests() {
		if size := rangeSize(q.Range); r.inArchive(q.Path) && size > 0 && size <= largePart {
			again++
			if fmt.Sprint(q.Host) == spoiled {
				t.Errorf("host %s is asked again for %s %s", spoiled, q.Path, q.Range)
			}
		}
	}
	if again != 1 {
		t.Errorf("%d files were asked for alone", again)
	}
}

// TestCDNListing lists and exports a build of 20,011 files by somebody else's generator for the first
// time, with what the configuration names loose, as on real hosts, and in archives. Few requests are
// needed besides those for indexes, and for an export little more than one for two megabytes.
func TestCDNListing(t *testing.T) {
	testneeds.Slow(t, "it makes a storage of 500 MB")
	testneeds.Program(t, "python3")
	t.Parallel()
	maker := testneeds.Fixture(t, "../bench/casc_storage.py")
	const files, archives = 20_011, 20
	dir := filepath.Join(t.TempDir(), "made")
	c := exec.CommandContext(t.Context(), "python3", "-B", maker, dir, "--files", "20000")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cfg, stored, err := write.Installed(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for where, packed := range map[string]bool{"loose": false, "packed": true} {
		r := servedRun(t, write.CDNOf(cfg, stored, archives, packed))
		for _, tt := range []struct {
			most int
			args []string
		}{
			{20, []string{"ls", "files"}},
			{20, []string{"find", "--type", "f", "files"}},
			{400, []string{"export", filepath.Join(r.dir, "out"), "files"}},
		} {
			r.server.Reset()
			out, code := r.run(tt.args[0], tt.args...)
			objects, indexes, _ := r.server.Asked()
			t.Logf("%s, %v: %d requests besides %d indexes", where, tt.args, objects, indexes)
			if objects > tt.most || indexes > archives+1 {
				t.Errorf("%s, %v: %d requests besides %d indexes: %v", where, tt.args, objects, indexes, r.server.Objects.Requests())
			}
			// The generator leaves a file out, and one has an unknown key.
			if n := bytes.Count(out, []byte("\n")); tt.args[0] == "find" && n < files || code != 0 && tt.args[0] != "export" {
				t.Errorf("%s, %v: exit code %d, %d lines", where, tt.args, code, n)
			}
		}
	}
}
