package replace

import (
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

// Options say what is done besides replacing. The zero value makes a backup and
// asks nobody.
type Options struct {
	// Size is about how many bytes the new file will have. If the file system has
	// less room, nothing is written and the error wraps a *SpaceError. 0 means
	// unknown, and the room is not looked at. A backup that has to be copied, where
	// files have only one name, is not part of it.
	Size int64
	// NoBackup leaves NAME.bak as it is.
	NoBackup bool
	// Check is asked by Hold and again by Place, whether the file at path is still the one
	// to be replaced; its error keeps it.
	Check func() error
	// Private makes a file that Create has nothing to model on its owner's alone,
	// where it is otherwise as open as its folder.
	Private bool
	// Logger is told what of a file could not be carried over to the new one.
	// Default: nobody is.
	Logger *slog.Logger
	// Disk is what is written to, nil for the one that is really there.
	Disk disk.FS
}

// backupSuffix is what the old file's name gets behind it.
const backupSuffix = ".bak"

// Replace replaces the regular file at path by what write writes. Before that is
// put in place, verify (if not nil) reads it from a file that was opened anew;
// write and verify must not keep what they are given. If two replace a file at
// once, one of them may fail with ErrChanged, so those who mind hold a lock (see package
// filelock).
//
// An error is a *StepError, maybe with others. Unless it matches ErrUnsynced, what was in
// place is, and no temporary file is left; if it was the last rename that failed, NAME.bak
// is the old file already. If another program's file came meanwhile, the error matches
// ErrChanged, or is that of o.Check. Cancelling ctx has the same outcome, until the new
// file is in place.
func Replace(ctx context.Context, path string, o Options,
	write func(w io.Writer) error, verify func(f *os.File) error,
) error {
	f, err := Begin(ctx, path, o)
	if err != nil {
		return err
	}
	return f.run(write, verify)
}

// Create writes a new file at path, where there must be nothing, by the same
// steps. It gets the permission bits, the owner and the extended attributes that like
// has, which may be gone from its folder but must be open until Create returns, or, if
// like is nil, the bits of its folder, as far as they are a file's.
func Create(ctx context.Context, path string, like *os.File, o Options,
	write func(w io.Writer) error, verify func(f *os.File) error,
) error {
	f, err := BeginNew(ctx, path, like, o)
	if err != nil {
		return err
	}
	return f.run(write, verify)
}

// run is all the steps, for who has nothing to announce.
func (f *File) run(write func(w io.Writer) error, verify func(f *os.File) error) (err error) {
	defer func() { err = errors.Join(err, f.Cleanup()) }() // also when a callback panics
	if err := f.Write(write); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.ReadBack(verify); err != nil {
		return err
	}
	if err := f.Hold(); err != nil {
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

// File is a new file on its way into the place of an old one. Its methods are the steps, to
// be called in this order, and Cleanup in any case:
//
//	Begin or BeginNew, Write, Sync, ReadBack, Hold, KeepOld, Place, SyncDir
type File struct {
	ctx  context.Context
	o    Options
	disk disk.FS

	// path is what is replaced: once found, without links. old describes the file that
	// may be replaced: what was found, and then what the caller was asked about. That
	// one is held open, if it may be read.
	path string
	old  os.FileInfo
	held disk.File
	// fresh tells that there is nothing to be replaced. like is what the new file is
	// modelled on then, nil for nothing.
	fresh bool
	like  *os.File

	// temp is the new file. It stays open and locked until it is in place.
	temp *tempFile
	// backup is the old file's second name, until that becomes NAME.bak.
	backup string
	// swap is the new file's second name, until it is exchanged with the old one's.
	swap string
	// inPlace tells that the new file is, and looked that nothing but the old one has
	// made room for it.
	inPlace, looked bool
	// left is what could not be given up.
	left error
}

// Begin makes the new file, beside the one at path.
func Begin(ctx context.Context, path string, o Options) (*File, error) {
	f := newFile(ctx, path, o)
	return f, f.create(f.find)
}

// BeginNew makes a new file beside path, where there must be nothing. See [Create].
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

// begin is the error of a step that is not to begin, as the work was cancelled.
func (f *File) begin() error {
	if f.inPlace {
		return nil // There is nothing that cancelling could still prevent.
	}
	return context.Cause(f.ctx)
}

// step does one step, unless the work was cancelled.
func (f *File) step(s Step, path string, do func() error) error {
	err := f.begin()
	if err == nil {
		err = do()
	}
	return stepError(s, path, err)
}

// create finds what is replaced, looks for room, and makes and locks the new file. A disk
// that is too full is told of before the work is done.
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

// find follows links, so that the file is replaced and not the link to it.
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

// findNothing makes sure that nothing is replaced. Whatever comes to the path
// before the new file does is safe as well, see place.
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

// Write has write write the new file.
func (f *File) Write(write func(w io.Writer) error) error {
	return f.step(StepWrite, f.temp.path, func() error { return f.writeAll(f.temp.File, write) })
}

// Sync gives the new file the owner, the permission bits and the extended attributes of the
// old one, as far as the process may set them, and makes it last: a name must not last
// longer than what the file holds.
func (f *File) Sync() error {
	if err := f.step(StepMode, f.temp.path, f.setMode); err != nil {
		return err
	}
	return f.step(StepSync, f.temp.path, f.temp.Sync)
}

// ReadBack has verify, if it is not nil, read the new file, opened anew.
func (f *File) ReadBack(verify func(f *os.File) error) error {
	if verify == nil {
		return nil
	}
	return f.step(StepVerify, f.temp.path, func() (err error) {
		g, err := f.disk.Open(f.temp.path, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer func() {
			if closeErr := g.Close(); err == nil {
				err = closeErr
			}
		}()
		if !f.temp.isAt(f.temp.path) {
			return errors.New("another file took its place")
		}
		return verify(g.OS())
	})
}

// Hold asks o.Check about the old file, and remembers which one that was. From here on, that
// is the only file which may be replaced, and it is held open, so that no other can get its
// number.
func (f *File) Hold() error { return f.step(StepCheck, f.path, f.judge) }

// Info describes the new file as it will be in its place.
func (f *File) Info() (os.FileInfo, error) { return f.temp.Stat() }

// Path is where the new file will be, without links.
func (f *File) Path() string { return f.path }

// Backup is the path of the old file, empty if it is not kept.
func (f *File) Backup() string {
	if f.fresh || f.o.NoBackup {
		return ""
	}
	return f.path + backupSuffix
}

// Cleanup leaves nothing open and no temporary names, whatever happened. Its error tells of
// those that are left all the same.
func (f *File) Cleanup() error {
	defer f.letGo()
	if f.temp == nil {
		return nil
	}
	if _, isKept := errors.AsType[*KeptError](f.left); f.temp.closed && f.inPlace && (f.left == nil || isKept) {
		return f.left
	}
	if closeFirst {
		_ = f.temp.close() // Nothing is lost: the file goes.
	}
	err := f.dropNames()
	_ = f.temp.close() // As above, or closed long ago.
	return err
}

// dropNames leaves no temporary name, but to a file that has no other and that somebody
// may want. The backup's and the swapped one go first: Sweep takes them for abandoned
// once the new file's is gone.
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
