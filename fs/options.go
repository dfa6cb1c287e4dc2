package fs

import (
	"errors"
	"log/slog"
	"time"
)

// DefaultMaxInodes is the default of [Options.MaxInodes]. With it a walk over four million
// entries leaves the process at about 70 MB, half of which is garbage not yet collected.
const DefaultMaxInodes = 48 << 10

// defaultUmask lets everybody read, as far as they are let in.
const defaultUmask = 0o022

// Options are the settings of a mount. The zero value is right for most.
type Options struct {
	// FsName is the source that mount(8) and df(1) show; "lorefs" if empty.
	FsName string
	// AllowOther lets other users than the mounting one see the mount. The kernel then
	// checks permissions: unless the options below say otherwise, everybody may read, and with
	// ReadWrite only the mounting user may write.
	AllowOther bool
	// UID and GID are those of all files; nil means those of this process.
	UID, GID *uint32
	// Umask has the bits that no file has; nil means 022.
	Umask *uint32
	// ReadWrite makes the mount writable. The tree must be a [nodes.Mutable].
	ReadWrite bool
	// MaxInodes is how many inodes the kernel may hold before the oldest unused ones are
	// dropped; [DefaultMaxInodes] if 0, no bound if negative.
	MaxInodes int
	// NoXattr hides extended attributes even if the tree has some. It saves programs that
	// look for them, such as cp -a, a request for each file.
	NoXattr bool
	// NoPrime turns off pushing small files into the page cache before they are read.
	NoPrime bool
	// PrimeMax is the largest file that is pushed, in bytes; one page if it is less. More is
	// right for a tree that makes a file in proportion to its size, and has nothing to wait for.
	PrimeMax int64
	// OwnReads says that this process reads its own mount, as tests do. The Go runtime
	// polls files that it opens, and could wait for itself unless that is prevented.
	OwnReads bool
	// Debug logs every request at level debug. It makes everything much slower.
	Debug bool
	// Logger gets the errors; nil discards them.
	Logger *slog.Logger

	// oldKernel uses only what all kernels have, for tests.
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

// ErrDetached is returned by [Server.Unmount] if the mount is no longer at its place but in
// use somewhere else (a bind mount, another mount namespace, a file that is open after a
// lazy unmount), so that it must be served on.
var ErrDetached = errors.New("it is detached, but still in use elsewhere")

// ErrUsed is returned by [Server.Expire] if something has used the mount.
var ErrUsed = errors.New("it was used meanwhile")

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
	// The same for Creates (of files and directories), Removes (of both), Renames,
	// Setattrs, Writes, Flushes, Syncs and Releases. They are 0 at a read-only mount.
	Creates, Removes, Renames, Setattrs, Writes, Flushes, Syncs, Releases uint64
	// Writers is how many times files are open for writing now.
	Writers int
	// ReadBytes is the number of bytes returned by Reads.
	ReadBytes uint64
	// Forgets counts inodes that the kernel dropped, Pruned those that it was asked to
	// drop.
	Forgets, Pruned uint64
	// NameOnly counts entries that were listed without an inode.
	NameOnly uint64
	// Primed counts files that were pushed into the page cache.
	Primed uint64
	// Errors counts requests that failed. A name that does not exist, or exists already, a
	// file that can't be changed and a signal are answers, not errors.
	Errors uint64
	// LastErrors are the latest errors, newest last. An error stays until twenty others
	// have come.
	LastErrors []ErrorRecord
}

// Used counts the requests of programs that use the mount. A look at its statistics, as df(1)
// takes it now and then, is none.
func (s *Stats) Used() uint64 {
	return s.Lookups + s.Getattrs + s.Opens + s.Opendirs + s.Readdirs + s.Reads + s.Xattrs +
		s.Creates + s.Removes + s.Renames + s.Setattrs + s.Writes + s.Flushes + s.Syncs + s.Releases
}

// ErrorRecord is an error of a mount.
type ErrorRecord struct {
	Time time.Time
	// Op is the operation and Path the file, or empty.
	Op, Path string
	Err      string
	// Times is how often it happened, Time when it happened last.
	Times int

	// by is the thread that it happened to last, or 0 if that is unknown or every error counts.
	by uint32
}
