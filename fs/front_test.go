//go:build linux

package fs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// oddFront serves an odd tree without a kernel.
func oddFront(tree nodes.Tree) *front {
	o := Options{MaxInodes: -1, Logger: slog.New(slog.DiscardHandler)}
	return newFront(newMount(tree, o), o)
}

var rootHeader = fuse.InHeader{NodeId: fuse.FUSE_ROOT_ID}

func TestOnlyTheTreeSaysNotExist(t *testing.T) {
	files := nodetest.MemFiles(testTime, map[string]string{"a": "text"})
	gone := &iofs.PathError{Op: "open", Path: "archive", Err: syscall.ENOENT}
	f := oddFront(oddTree{
		Mem:    files,
		readAt: func([]byte) (int, error) { return 0, nodes.NotExist(7) },
		attr:   func(nodes.ID) error { return gone },
	})
	var out fuse.EntryOut
	if st := f.Lookup(nil, &rootHeader, "a", &out); !st.Ok() || out.NodeId == 0 {
		t.Fatalf("LOOKUP = %v", st)
	}
	head := fuse.InHeader{NodeId: out.NodeId}
	if _, st := f.Read(nil, &fuse.ReadIn{InHeader: head, Size: 4}, make([]byte, 4)); st != fuse.EIO {
		t.Errorf("READ = %v, want EIO", st)
	}
	if st := f.GetAttr(nil, &fuse.GetAttrIn{InHeader: head}, new(fuse.AttrOut)); st != fuse.EIO {
		t.Errorf("GETATTR = %v, want EIO", st)
	}
	if n := f.m.stats().Errors; n != 2 {
		t.Errorf("%d failures counted, want 2", n)
	}
}

func TestLookupKeepsNoMissOfTheSource(t *testing.T) {
	files := nodetest.MemFiles(testTime, map[string]string{"a": "text"})
	for want, tree := range map[fuse.Status]nodes.Tree{
		fuse.OK:  files, // go-fuse's way to say: remember that it does not exist
		fuse.EIO: failingLookup{files},
	} {
		f := oddFront(tree)
		var out fuse.EntryOut
		if st := f.Lookup(nil, &rootHeader, "none", &out); st != want || out.NodeId != 0 {
			t.Errorf("LOOKUP = %v, node %d; want %v", st, out.NodeId, want)
		}
		if failed := f.m.stats().Errors == 1; failed != (want == fuse.EIO) {
			t.Errorf("%v: %d failures counted", want, f.m.stats().Errors)
		}
	}
}

func TestLookupRefusesWhatGoFuseWouldPanicOf(t *testing.T) {
	files := nodetest.MemFiles(testTime, map[string]string{"a": "text"})
	for name, change := range map[string]func(e *nodes.Entry){
		"number 0":        func(e *nodes.Entry) { e.ID = 0 },
		"number 1":        func(e *nodes.Entry) { e.ID = nodes.Root },
		"number too high": func(e *nodes.Entry) { e.ID = nodes.MaxID + 1 },
		"NUL in the name": func(e *nodes.Entry) { e.Name = "a\x00" },
	} {
		f := oddFront(oddTree{Mem: files, lookup: func(e *nodes.Entry) error { change(e); return nil }})
		if st := f.Lookup(nil, &rootHeader, "a", new(fuse.EntryOut)); st != fuse.EIO {
			t.Errorf("%s: LOOKUP = %v, want EIO", name, st)
		}
	}
}

func TestReadIsNeverShort(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		err  error
		want fuse.Status
	}{
		"whole":        {4, io.EOF, fuse.OK},
		"early end":    {2, io.EOF, fuse.EIO},
		"early nil":    {2, nil, fuse.EIO},
		"wrapped EOF":  {4, fmt.Errorf("inflate: %w", io.EOF), fuse.EIO},
		"wrapped half": {2, fmt.Errorf("inflate: %w", io.EOF), fuse.EIO},
	} {
		f := oddFront(oddTree{
			Mem:    nodetest.MemFiles(testTime, map[string]string{"a": "text"}),
			readAt: func([]byte) (int, error) { return c.n, c.err },
		})
		var out fuse.EntryOut
		f.Lookup(nil, &rootHeader, "a", &out)
		in := fuse.ReadIn{InHeader: fuse.InHeader{NodeId: out.NodeId}, Size: 4096}
		if _, st := f.Read(nil, &in, make([]byte, 4096)); st != c.want {
			t.Errorf("%s: READ = %v, want %v", name, st, c.want)
		}
	}
}

func TestListingWithoutTimes(t *testing.T) {
	asked := 0
	tree := oddTree{Mem: nodetest.MemFiles(testTime, map[string]string{"a": "", "b": "", "c/": ""}), noTime: true}
	tree.attr = func(nodes.ID) error { asked++; return nil }
	ids, times := readDirPlus(t, oddFront(tree))
	if len(ids) != 3 || ids[0] == 0 || times[2] != uint64(testTime.Unix()) || asked != 1 {
		t.Errorf("nodes %v with times %v, after %d questions", ids, times, asked)
	}
	asked = 0
	tree.attr = func(nodes.ID) error { asked++; return errors.New("no time") }
	f := oddFront(tree)
	ids, _ = readDirPlus(t, f)
	if len(ids) != 3 || ids[0] != 0 || ids[2] != 0 || asked != 1 {
		t.Errorf("nodes %v after %d questions; want names only, after one", ids, asked)
	}
	if n := f.m.counters.nameOnly.Load(); n != 3 {
		t.Errorf("%d entries by name only, want 3", n)
	}
}

// readDirPlus returns the node IDs and times of the root's entries.
func readDirPlus(t *testing.T, f *front) (ids, mtimes []uint64) { return readPlus(t, f, 4<<10) }

// readAllPlus is readDirPlus for up to some thousand files.
func readAllPlus(t *testing.T, f *front) (ids, mtimes []uint64) { return readPlus(t, f, 1<<20) }

func readPlus(t *testing.T, f *front, size int) (ids, mtimes []uint64) {
	t.Helper()
	buf := make([]byte, size)
	out := fuse.NewDirEntryList(buf, 0)
	if st := f.ReadDirPlus(nil, &fuse.ReadIn{InHeader: rootHeader}, out); !st.Ok() {
		t.Fatalf("READDIRPLUS = %v", st)
	}
	// See fuse_direntplus in linux/fuse.h: fuse_entry_out, then fuse_dirent.
	const entryOut, mtime, nameLen, name = 128, 40 + 4*8, 128 + 16, 128 + 24
	for p := out.Bytes(); len(p) > entryOut; {
		ids = append(ids, binary.NativeEndian.Uint64(p))
		mtimes = append(mtimes, binary.NativeEndian.Uint64(p[mtime:]))
		size := name + int(binary.NativeEndian.Uint32(p[nameLen:]))
		p = p[(size+7)&^7:]
	}
	return ids, mtimes
}

func TestEverythingThatWritesIsRefused(t *testing.T) {
	f := oddFront(nodetest.MemFiles(testTime, map[string]string{"a": "text"}))
	h := rootHeader
	_, write := f.Write(nil, new(fuse.WriteIn), nil)
	_, writev := f.Writev(nil, new(fuse.WriteIn), nil)
	_, copied := f.CopyFileRange(nil, new(fuse.CopyFileRangeIn))
	statuses := []fuse.Status{
		write, writev, copied,
		f.SetAttr(nil, new(fuse.SetAttrIn), nil), f.Mknod(nil, new(fuse.MknodIn), "x", nil),
		f.Mkdir(nil, new(fuse.MkdirIn), "x", nil), f.Unlink(nil, &h, "a"), f.Rmdir(nil, &h, "a"),
		f.Rename(nil, new(fuse.RenameIn), "a", "b"), f.Link(nil, new(fuse.LinkIn), "x", nil),
		f.Symlink(nil, &h, "a", "b", nil), f.SetXAttr(nil, new(fuse.SetXAttrIn), "user.x", nil),
		f.RemoveXAttr(nil, &h, "user.x"), f.Create(nil, new(fuse.CreateIn), "x", nil),
		f.Tmpfile(nil, new(fuse.CreateIn), nil), f.Fallocate(nil, new(fuse.FallocateIn)),
	}
	for i, st := range statuses {
		if st != fuse.EROFS {
			t.Errorf("operation %d = %v, want EROFS", i, st)
		}
	}
	if n := f.m.stats().Requests; n != uint64(len(statuses)) {
		t.Errorf("%d requests counted, want %d", n, len(statuses))
	}
}

// TestInodesSurviveRaces looks up and forgets the same file from many goroutines. In the
// end exactly the known nodes must be listed.
func TestInodesSurviveRaces(t *testing.T) {
	f := oddFront(nodetest.MemFiles(testTime, map[string]string{"a": "text", "b": "text"}))
	lookup := func() uint64 {
		var out fuse.EntryOut
		if st := f.Lookup(nil, &rootHeader, "a", &out); !st.Ok() {
			t.Errorf("LOOKUP = %v", st)
		}
		return out.NodeId
	}
	for range 300 {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 4 {
					f.Forget(lookup(), 1)
				}
			})
		}
		wg.Wait()
		if n := f.m.inodes.len(); n != 0 {
			t.Fatalf("%d inodes listed after all were forgotten", n)
		}
		id := lookup()
		if n := f.m.inodes.find(id); n == nil || f.m.inodes.len() != 1 {
			t.Fatal("a known inode is not listed")
		}
		f.Forget(id, 1)
	}
}

// TestForgetOfWhatIsBackInUse plays the rarest of these races by hand: the file was looked
// up again before OnForget was called.
func TestForgetOfWhatIsBackInUse(t *testing.T) {
	f := oddFront(nodetest.MemFiles(testTime, map[string]string{"a": "text"}))
	var out fuse.EntryOut
	f.Lookup(nil, &rootHeader, "a", &out)
	f.m.inodes.find(out.NodeId).OnForget()
	if f.m.inodes.find(out.NodeId) == nil {
		t.Error("a known inode is not listed")
	}
}

func TestPrunerOutlivesPanics(t *testing.T) {
	var out bytes.Buffer
	m := newMount(nodetest.MemFiles(testTime, map[string]string{"a": "", "b": "", "c": ""}),
		Options{MaxInodes: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	f := newFront(m, Options{Logger: slog.New(slog.DiscardHandler)})
	var running sync.WaitGroup
	running.Go(func() { m.prune(f.life, nil) }) // the nil kernel panics
	for i, name := range []string{"a", "b", "c"} {
		f.Lookup(nil, &rootHeader, name, new(fuse.EntryOut))
		for i > 0 && m.stats().Errors < uint64(i) {
			time.Sleep(time.Millisecond) // until it has panicked, or go test gives up
		}
	}
	f.end()
	running.Wait()
	if n := strings.Count(out.String(), "panic while dropping inodes"); n != 2 {
		t.Errorf("%d panics logged, want 2:\n%s", n, out.String())
	}
}

// failingLookup is a tree whose source lacks a file.
type failingLookup struct{ *nodetest.Mem }

func (failingLookup) Lookup(context.Context, nodes.ID, string) (nodes.Entry, error) {
	return nodes.Entry{}, &iofs.PathError{Op: "open", Path: "archive", Err: syscall.ENOENT}
}
