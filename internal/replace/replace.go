package replace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"lorefs/internal/disk"
	"lorefs/internal/diskspace"
	"lorefs/internal/filelock"
	"lorefs/internal/links"
)

// Options are options for replacing a file. The zero value makes a backup and asks nobody.
type Options struct {
	// Size is about how many bytes the new file will have. If the file system has less
	// space, nothing is written and the error wraps a *SpaceError. 0 means unknown. A backup
	// that has to be copied, because files can have only one name, is not included.
	Size int64
	// NoBackup leaves NAME.bak unchanged.
	NoBackup bool
	// Check is called by Pin, and again by Place. It returns an error if the file at path
	// is not the one to replace.
	Check func() error
	// Private makes a file without a model readable by its owner only. Otherwise Create
	// gives it the permission bits of its folder.
	Private bool
	// Logger gets a warning if attributes of the old file can't be carried over. Default:
	// none.
	Logger *slog.Logger
	// Disk is the file system to write to; nil is the real one.
	Disk disk.FS
}

// backupSuffix is added to the old file's name.
const backupSuffix = ".bak"

// Replace replaces the regular file at path with what write writes. Before that, verify (if
// not nil) reads the new file, opened again. write and verify must not keep the files. If
// two processes replace a file at the same time, one may fail with ErrChanged, so callers
// should hold a lock (see package filelock).
//
// The error is a *StepError, possibly joined with others. Unless it matches ErrUnsynced, the
// old file is still in place, and no temporary file is left; if only the last rename failed,
// NAME.bak is the old file already. If another program has replaced the file meanwhile, the
// error matches ErrChanged or is the error of o.Check. Cancelling ctx has the same result,
// until the new file is in place.
func Replace(ctx context.Context, path string, o Options,
	write func(w io.Writer) error, verify func(f *os.File) error,
) error {
	f, err := Begin(ctx, path, o)
	if err != nil {
		return err
	}
	return f.run(write, verify)
}

// Create writes a new file at path, where no file may exist, by the same steps. It gets the
// permission bits, the owner and the extended attributes of like, which may have lost its
// name but must be open until Create returns. If like is nil, it gets the permission bits of
// its folder, without those for searching it.
func Create(ctx context.Context, path string, like *os.File, o Options,
	write func(w io.Writer) error, verify func(f *os.File) error,
) error {
	f, err := BeginNew(ctx, path, like, o)
	if err != nil {
		return err
	}
	return f.run(write, verify)
}

// run takes all the steps.
func (f *File) run(write func(w io.Writer) error, verify func(f *os.File) error) (err error) {
	defer func() { err = errors.Join(err, f.Cleanup()) }() // even if a callback panics
	if err := f.Write(write); err != nil {
		return err
	}
	if err := f.SyncAndReadBack(verify); err != nil {
		return err
	}
	if err := f.Pin(); err != nil {
		return err
	}
	if err := f.KeepOld(); err != nil {
		return err
	}
	if err := f.Place(); err != nil {
		return err
	}
	return f.SyncDir()
}

// File is a new file that is to replace an old one. Its methods are the steps, to be called
// in this order; Cleanup must be called in any case:
//
//	Begin or BeginNew, Write, SyncAndReadBack, Pin, KeepOld, Place, SyncDir
type File struct {
	ctx  context.Context
	o    Options
	disk disk.FS

	// path is the file to replace, without links. old describes the file that may be
	// replaced: first what was found, then what the caller was asked about. That one is pinned
	// if it may be read.
	path   string
	old    os.FileInfo
	pinned disk.File
	// fresh means that no file is replaced. like is then the model of the new file, or nil.
	fresh bool
	like  *os.File

	// temp is the new file. It is open and locked until it is in place.
	temp *tempFile
	// backup is the old file's second name, until it becomes NAME.bak.
	backup string
	// swap is the new file's second name, until it is exchanged with NAME. Where that is
	// impossible it is the old file, moved away.
	swap string
	// inPlace means that the new file is in place, and looked that it replaced the old file
	// and no other.
	inPlace, looked bool
	// left is the error of names that could not be removed.
	left error
}

// Begin makes the new file, beside the file at path.
func Begin(ctx context.Context, path string, o Options) (*File, error) {
	f := newFile(ctx, path, o)
	return f, f.create(f.find)
}

// BeginNew makes a new file beside path, where no file may exist. See [Create].
func BeginNew(ctx context.Context, path string, like *os.File, o Options) (*File, error) {
	o.NoBackup = true
	f := newFile(ctx, path, o)
	f.fresh, f.like = true, like
	return f, f.create(f.findNothing)
}

func newFile(ctx context.Context, path string, o Options) *File {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &File{ctx: ctx, o: o, disk: disk.Or(o.Disk), path: path}
}

// begin returns an error if the work was cancelled.
func (f *File) begin() error {
	if f.inPlace {
		return nil // too late to cancel
	}
	return context.Cause(f.ctx)
}

// step takes one step, unless the work was cancelled.
func (f *File) step(s Step, path string, do func() error) error {
	err := f.begin()
	if err == nil {
		err = do()
	}
	return stepError(s, path, err)
}

// create finds the old file, checks the free space, and makes and locks the new file. A disk
// that is too full is reported before the work is done.
func (f *File) create(find func() error) error {
	if err := f.step(StepFind, f.path, find); err != nil {
		return err
	}
	if err := f.step(StepSpace, f.path, f.checkSpace); err != nil {
		return err
	}
	return f.step(StepCreate, f.path, func() (err error) {
		f.temp, err = createTemp(f.disk, f.path)
		return err
	})
}

// find follows links, so that the file is replaced and not a link to it.
func (f *File) find() error {
	path, err := links.Resolve(f.path)
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return filelock.ErrNotRegular
	}
	f.path, f.old = path, info
	return nil
}

// findNothing checks that there is no file at path. One that comes later is safe too, see
// place.
func (f *File) findNothing() error {
	dir, err := links.Resolve(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	f.path = filepath.Join(dir, filepath.Base(f.path))
	if _, err := os.Lstat(f.path); err == nil {
		return iofs.ErrExist
	} else if !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *File) dir() string { return filepath.Dir(f.path) }

func (f *File) checkSpace() error {
	if f.o.Size <= 0 {
		return nil
	}
	space, err := diskspace.Of(f.dir())
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err == nil && space.Free < f.o.Size {
		err = &SpaceError{Need: f.o.Size, Free: space.Free}
	}
	return err
}

// Write calls write to write the new file.
func (f *File) Write(write func(w io.Writer) error) error {
	return f.step(StepWrite, f.path, func() error { return f.writeAll(f.temp.File, write) })
}

// SyncAndReadBack gives the new file the owner, the permission bits and the extended attributes
// of the old one, as far as the process may set them. Then it syncs the file, since its name must
// not become durable before its content. Meanwhile verify, if it is not nil, reads the file, opened
// again: a disk may take longer to sync the file than verify takes. If both fail, the error is that
// of the sync.
func (f *File) SyncAndReadBack(verify func(f *os.File) error) (err error) {
	if err := f.step(StepMode, f.path, f.setMode); err != nil {
		return err
	}
	if verify == nil {
		return f.sync()
	}
	g, err := f.openAgain()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, stepError(StepVerify, f.path, g.Close())) }()
	synced := make(chan error, 1)
	go func() { synced <- f.sync() }()
	defer func() { err = cmp.Or(<-synced, err) }()
	return f.step(StepVerify, f.path, func() error { return verify(g.OS()) })
}

func (f *File) sync() error { return f.step(StepSync, f.path, f.temp.Sync) }

// openAgain opens the new file again, to read it.
func (f *File) openAgain() (g disk.File, err error) {
	err = f.step(StepVerify, f.path, func() error {
		if g, err = f.disk.Open(f.temp.path, os.O_RDONLY); err != nil {
			return err
		}
		if f.temp.isAt(f.temp.path) {
			return nil
		}
		return errors.Join(errors.New("another file took its place"), g.Close())
	})
	return g, err
}

// Pin asks o.Check about the old file, and remembers it. After that, only this file may be
// replaced. It is kept open, so that no other file can get its number.
func (f *File) Pin() error { return f.step(StepCheck, f.path, f.judge) }

// Info describes the new file as it will be in its place.
func (f *File) Info() (os.FileInfo, error) { return f.temp.Stat() }

// Path returns the path that the new file will have, without links.
func (f *File) Path() string { return f.path }

// Backup returns the path of the old file's backup, or nothing if it is not kept.
func (f *File) Backup() string {
	if f.fresh || f.o.NoBackup {
		return ""
	}
	return f.path + backupSuffix
}

// Cleanup closes all files and removes all temporary names, also after an error. Its error
// names those that are left.
func (f *File) Cleanup() error {
	defer f.letGo()
	if f.temp == nil {
		return nil
	}
	if _, isKept := errors.AsType[*KeptError](f.left); f.temp.closed && f.inPlace && (f.left == nil || isKept) {
		return f.left
	}
	if closeFirst {
		_ = f.temp.close() // the file is removed anyway
	}
	err := f.dropNames()
	_ = f.temp.close() // as above, or closed already
	return err
}

// dropNames removes all temporary names, except the last name of a file that may be worth
// keeping. The names of the backup and of the exchange come first, since Sweep takes them
// for abandoned once the new file's name is gone.
func (f *File) dropNames() error {
	var errs []error
	if f.backup != "" {
		errs = append(errs, f.drop(f.backup))
	}
	if f.swap != "" {
		errs = append(errs, f.dropSwap())
	}
	return errors.Join(append(errs, f.drop(f.temp.path))...)
}

func (f *File) drop(path string) error {
	err := f.disk.Remove(path)
	if err == nil || errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("a temporary file is left: %w", err)
}
