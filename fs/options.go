package fs

import (
	"errors"
	"log/slog"
	"time"
)

// DefaultMaxInodes is the default of [Options.MaxInodes]. With it a walk over four
// million entries leaves the process at about 70 MB, of which half is what the
// garbage collector lets grow.
const DefaultMaxInodes = 48 << 10

// Options are the settings of a mount. The zero value is right for most.
type Options struct {
	// FsName is what mount(8) and df(1) show as the source; "lorefs" if empty.
	FsName string
	// AllowOther lets other users than the mounting one see the mount. The
	// kernel then checks permissions: everything is readable, and nothing writable
	// but by the mounting user, with ReadWrite.
	AllowOther bool
	// ReadWrite lets the tree be changed, which has to be a [nodes.Mutable].
	ReadWrite bool
	// MaxInodes is how many inodes the kernel may hold before the oldest unused
	// ones are dropped; [DefaultMaxInodes] if 0, no bound if negative.
	MaxInodes int
	// NoXattr hides extended attributes even if the tree has some. It saves
	// programs that look for them, such as cp -a, a request a file.
	NoXattr bool
	// NoPrime turns off pushing small files into the page cache ahead of being read.
	NoPrime bool
	// OwnReads tells that this process reads the mount itself, as tests do: the Go runtime
	// polls files that it opens, and could wait for itself unless that is prevented.
	OwnReads bool
	// Debug logs every request at level debug. It makes everything much slower.
	Debug bool
	// Logger gets what goes wrong; nil discards it.
	Logger *slog.Logger

	// oldKernel asks for nothing that not all kernels have: for tests.
	oldKernel bool
}

func (o Options) withDefaults() Options {
	if o.FsName == "" {
		o.FsName = fsType
	}
	if o.MaxInodes == 0 {
		o.MaxInodes = DefaultMaxInodes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// ErrDetached is what [Server.Unmount] returns if the mount is no longer at its
// place, but somewhere else (a bind mount, another mount namespace, a file that
// is open after a lazy unmount), so that it has to be served on.
var ErrDetached = errors.New("it is detached, but still in use elsewhere")

var (
	// ErrDead means that the process that served a mount has ended.
	ErrDead = errors.New("a dead mount is there")
	// ErrSilent means that a mount has not answered for some seconds.
	ErrSilent = errors.New("what is mounted there does not answer")
)

// fsType makes the file system type "fuse.lorefs".
const fsType = "lorefs"

// Stats are counters of a mount since it began.
type Stats struct {
	// Inodes is how many inodes the kernel knows now, besides the root.
	Inodes int
	// Requests counts all requests of the kernel but forgets.
	Requests uint64
	// Lookups, Getattrs, Opens, Opendirs, Readdirs, Reads and Xattrs count requests of one kind.
	Lookups, Getattrs, Opens, Opendirs, Readdirs, Reads, Xattrs uint64
	// So do Creates (of files and directories), Removes (of both), Renames,
	// Setattrs, Writes, Flushes, Syncs and Releases, all 0 if nothing can be changed.
	Creates, Removes, Renames, Setattrs, Writes, Flushes, Syncs, Releases uint64
	// ReadBytes is what Reads handed out.
	ReadBytes uint64
	// Forgets counts inodes that the kernel dropped, Pruned those of which it
	// was asked to.
	Forgets, Pruned uint64
	// NameOnly counts listed entries of which the kernel got no inode.
	NameOnly uint64
	// Primed counts files that were pushed into the page cache.
	Primed uint64
	// Errors counts requests that could not be served as they should have been. A name
	// that is not there, or is there already, a file that can't be changed and a signal
	// that came are answers, not errors.
	Errors uint64
	// LastErrors are the latest of them, newest last: each is one of these, until twenty
	// others have come.
	LastErrors []ErrorRecord
}

// ErrorRecord is one error that a mount ran into.
type ErrorRecord struct {
	Time time.Time
	// Op is what was asked for, Path of which file; it is empty for what is no file's.
	Op, Path string
	Err      string
	// Times is how often the same happened, Time when it did last.
	Times int
}
