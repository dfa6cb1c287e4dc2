//go:build linux

package fs_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"lorefs/fs"
	"lorefs/fs/fusetest"
)

// shape is a tree of equal directories below the root, all files of the same
// few bytes: what there is besides the cost of requests.
type shape struct {
	name        string
	dirs, files int
}

const shapeContent = "sword_of_truth\n"

func (s shape) entries() int           { return s.dirs * (s.files + 1) }
func (s shape) dirName(i int) string   { return fmt.Sprintf("Item.%d", i) }
func (s shape) fileName(j int) string  { return fmt.Sprintf("attr%d", j) }
func (s shape) dirNode(i int) uint64   { return uint64(2 + i) }
func (s shape) fileNode(k int) uint64  { return uint64(2 + s.dirs + k) }
func (s shape) isDir(node uint64) bool { return node < uint64(2+s.dirs) }

// floor is the least that a go-fuse server of a shape can do: nothing is looked
// up or kept, numbers are computed, every answer is cached for good. What the
// adapter costs is told as a share of it.
type floor struct {
	fuse.RawFileSystem
	shape
	dirNames, fileNames []string
}

// mountFloor mounts a floor with the options that the adapter uses.
func mountFloor(t testing.TB, s shape) (dir string, unmount func()) {
	t.Helper()
	fusetest.Require(t)
	f := &floor{RawFileSystem: fuse.NewDefaultRawFileSystem(), shape: s}
	for i := range s.dirs {
		f.dirNames = append(f.dirNames, s.dirName(i))
	}
	for j := range s.files {
		f.fileNames = append(f.fileNames, s.fileName(j))
	}
	dir = t.TempDir()
	server, err := fuse.NewServer(f, dir, &fuse.MountOptions{
		Name: "floor", MaxWrite: 1 << 20, DisableXAttrs: true, ExplicitDataCacheControl: true,
		ExtraCapabilities: fuse.CAP_NO_OPENDIR_SUPPORT, DirectMount: true,
		DirectMountFlags: unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV, Options: []string{"ro"},
	})
	if err != nil {
		t.Skipf("cannot mount here: %v", err)
	}
	go server.Serve()
	return dir, func() {
		if err := server.Unmount(); err != nil {
			t.Errorf("unmount: %v", err)
			_ = fs.Detach(dir)
		}
	}
}

func (f *floor) attr(node uint64, out *fuse.Attr) {
	out.Ino, out.Nlink, out.Mode = node, 1, syscall.S_IFREG|0o444
	if f.isDir(node) {
		out.Mode = syscall.S_IFDIR | 0o555
	} else {
		out.Size = uint64(len(shapeContent))
	}
}

func (f *floor) entry(node uint64, out *fuse.EntryOut) {
	out.NodeId, out.Generation = node, 1
	out.SetEntryTimeout(time.Hour)
	out.SetAttrTimeout(time.Hour)
	f.attr(node, &out.Attr)
}

func (f *floor) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	var i int
	if in.NodeId == fuse.FUSE_ROOT_ID {
		if _, err := fmt.Sscanf(name, "Item.%d", &i); err != nil || i >= f.dirs {
			return fuse.ENOENT
		}
		f.entry(f.dirNode(i), out)
		return fuse.OK
	}
	if _, err := fmt.Sscanf(name, "attr%d", &i); err != nil || i >= f.files {
		return fuse.ENOENT
	}
	f.entry(f.fileNode(int(in.NodeId-2)*f.files+i), out)
	return fuse.OK
}

func (f *floor) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.SetTimeout(time.Hour)
	f.attr(in.NodeId, &out.Attr)
	return fuse.OK
}

func (f *floor) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (f *floor) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (f *floor) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

func (f *floor) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.ENOSYS }

func (f *floor) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	if in.Offset >= uint64(len(shapeContent)) {
		return fuse.ReadResultData(nil), fuse.OK
	}
	return fuse.ReadResultData(buf[:copy(buf, shapeContent[in.Offset:])]), fuse.OK
}

func (f *floor) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	names, first, mode := f.dirNames, f.dirNode(0), uint32(syscall.S_IFDIR)
	if in.NodeId != fuse.FUSE_ROOT_ID {
		names, first, mode = f.fileNames, f.fileNode(int(in.NodeId-2)*f.files), syscall.S_IFREG
	}
	for i := int(in.Offset); i < len(names); i++ {
		node := first + uint64(i)
		eo := out.AddDirLookupEntry(fuse.DirEntry{Name: names[i], Ino: node, Mode: mode, Off: uint64(i + 1)})
		if eo == nil {
			break
		}
		f.entry(node, eo)
	}
	return fuse.OK
}
