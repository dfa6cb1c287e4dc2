//go:build linux

package fs

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// TestListedNodesAreKnown sends requests about nodes right after the listing that the kernel knows
// them by, as each kind may be the first. go-fuse panics at a node that it does not know.
func TestListedNodesAreKnown(t *testing.T) {
	requests := map[string]func(f *front, head fuse.InHeader) fuse.Status{
		"GETATTR": func(f *front, head fuse.InHeader) fuse.Status {
			return f.GetAttr(nil, &fuse.GetAttrIn{InHeader: head}, new(fuse.AttrOut))
		},
		"READ": func(f *front, head fuse.InHeader) fuse.Status {
			_, st := f.Read(nil, &fuse.ReadIn{InHeader: head, Size: 4}, make([]byte, 4))
			return st
		},
		"OPEN": func(f *front, head fuse.InHeader) fuse.Status {
			return f.Open(nil, &fuse.OpenIn{InHeader: head}, new(fuse.OpenOut))
		},
		"LOOKUP": func(f *front, head fuse.InHeader) fuse.Status {
			return f.Lookup(nil, &head, "none", new(fuse.EntryOut))
		},
		"STATFS": func(f *front, head fuse.InHeader) fuse.Status { return f.StatFs(nil, &head, new(fuse.StatfsOut)) },
		"GETXATTR": func(f *front, head fuse.InHeader) fuse.Status {
			_, st := f.GetXAttr(nil, &head, "user.none", nil)
			return st
		},
		"LISTXATTR": func(f *front, head fuse.InHeader) fuse.Status {
			_, st := f.ListXAttr(nil, &head, nil)
			return st
		},
		"READLINK": func(f *front, head fuse.InHeader) fuse.Status {
			_, st := f.Readlink(nil, &head)
			return st
		},
		"IOCTL": func(f *front, head fuse.InHeader) fuse.Status {
			return f.Ioctl(nil, &fuse.IoctlIn{InHeader: head}, nil, new(fuse.IoctlOut), nil)
		},
		"FORGET": func(f *front, head fuse.InHeader) fuse.Status {
			f.Forget(head.NodeId, 1)
			return fuse.OK
		},
	}
	for name, request := range requests {
		const files = 400
		m, k := newTestMount(t, files, -1)
		f := k.raw.(*front)
		ids, _ := readAllPlus(t, f)
		if len(ids) != files {
			t.Fatalf("%d files listed, want %d", len(ids), files)
		}
		request(f, fuse.InHeader{NodeId: ids[files-1]})
		if n := m.stats().Inodes; n != files && (name != "FORGET" || n != files-1) {
			t.Errorf("%s: %d inodes on the list", name, n)
		}
		for _, id := range ids[:files-1] {
			f.Forget(id, 1)
		}
		if n := m.stats().Inodes; n > 1 {
			t.Errorf("%s: %d inodes left when all are forgotten", name, n)
		}
	}
}

// entryNotices is a kernel before Linux 6.18. It counts the names that it is asked to drop.
type entryNotices int

func (*entryNotices) PruneNotify([]uint64) fuse.Status { return fuse.ENOSYS }

func (n *entryNotices) EntryNotify(uint64, string) fuse.Status {
	*n++
	return fuse.OK
}

// TestListedDirectoryIsNotDropped prunes a directory right after its listing: a program may be in one
// of its entries.
func TestListedDirectoryIsNotDropped(t *testing.T) {
	files := map[string]string{}
	for i := range 400 {
		files["dir/"+strconv.Itoa(i)] = ""
	}
	f := oddFront(nodetest.MemFiles(testTime, files))
	var dir fuse.EntryOut
	if st := f.Lookup(nil, &rootHeader, "dir", &dir); !st.Ok() {
		t.Fatalf("LOOKUP = %v", st)
	}
	var k entryNotices
	p := pruner{list: &f.m.inodes, kernel: &k, counters: &f.m.counters}
	p.batch = f.m.inodes.rotate(nil, 1)
	in := fuse.ReadIn{InHeader: fuse.InHeader{NodeId: dir.NodeId}}
	if st := f.ReadDirPlus(nil, &in, fuse.NewDirEntryList(make([]byte, 1<<20), 0)); !st.Ok() {
		t.Fatalf("READDIRPLUS = %v", st)
	}
	p.offer()
	if k != 0 {
		t.Error("the name of a directory with known entries is dropped")
	}
}

// TestListersAtOnce lists from several goroutines at once.
func TestListersAtOnce(t *testing.T) {
	const files, listers = 400, 16
	m, k := newTestMount(t, files, -1)
	f := k.raw.(*front)
	done := make(chan []uint64)
	for range listers {
		go func() {
			ids, _ := readAllPlus(t, f)
			done <- ids
		}()
	}
	var ids []uint64
	for range listers {
		ids = <-done
	}
	if n := m.stats().Inodes; n != files {
		t.Errorf("%d inodes on the list, want %d", n, files)
	}
	for _, id := range ids {
		f.Forget(id, listers)
	}
	if n := m.stats().Inodes; n != 0 {
		t.Errorf("%d inodes left when all are forgotten", n)
	}
}

// unlisted is a tree that can list only its root.
type unlisted struct{ *nodetest.Mem }

func (u unlisted) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	if dir != nodes.Root {
		return func(yield func(nodes.Entry, error) bool) { yield(nodes.Entry{}, errors.New("no listing")) }
	}
	return u.Mem.ReadDir(ctx, dir, cursor)
}

// TestErrorOfListedDirectory lists a directory right after its name was listed. The error names it.
func TestErrorOfListedDirectory(t *testing.T) {
	const dirs = 400
	files := map[string]string{}
	for i := range dirs {
		files["d"+strconv.Itoa(1000+i)+"/"] = ""
	}
	f := oddFront(unlisted{nodetest.MemFiles(testTime, files)})
	ids, _ := readAllPlus(t, f)
	in := fuse.ReadIn{InHeader: fuse.InHeader{NodeId: ids[dirs-1]}}
	if st := f.ReadDirPlus(nil, &in, fuse.NewDirEntryList(make([]byte, 4096), 0)); st != fuse.EIO {
		t.Fatalf("READDIRPLUS = %v, want EIO", st)
	}
	if errs := f.m.stats().LastErrors; len(errs) != 1 || errs[0].Path != "/d1399" {
		t.Errorf("errors: %+v", errs)
	}
}
