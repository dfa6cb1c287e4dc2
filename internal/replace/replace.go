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
	// Check is asked when the new file is verified and again later, whether the file at
	// path is still the one to be replaced; its error keeps it.
	Check func() error
	// Ready is told what the new file will look like (size, time, identity) before
	// it is put in place; its error keeps the old one.
	Ready func(info os.FileInfo) error
	// Private makes a file that Create has nothing to model on its owner's alone,
	// where it is otherwise as open as its folder.
	Private bool
	// Logger is told what of a file could not be carried over to the new one.
	// Default: nobody is.
	Logger *slog.Logger

	// Before is called ahead of each step, and its error fails the step: for tests.
	Before func(Step) error
	// link is os.Link, and exchange and renameNew are those of the system, but in tests.
	link, exchange, renameNew func(from, to string) error
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
	r := &replacement{ctx: ctx, o: o, write: write, verify: verify, path: path}
	return r.replace(r.find)
}

// Create writes a new file at path, where there must be nothing, by the same
// steps. It gets the permission bits, the owner and the extended attributes that like
// has, which may be gone from its folder but must be open until Create returns, or, if
// like is nil, the bits of its folder, as far as they are a file's.
func Create(ctx context.Context, path string, like *os.File, o Options,
	write func(w io.Writer) error, verify func(f *os.File) error,
) error {
	o.NoBackup = true
	r := &replacement{ctx: ctx, o: o, write: write, verify: verify, path: path, like: like, fresh: true}
	return r.replace(r.findNothing)
}

func (r *replacement) replace(find func() error) (err error) {
	if r.o.link == nil {
		r.o.link = os.Link
	}
	if r.o.exchange == nil && canExchange {
		r.o.exchange = exchange
	}
	if r.o.renameNew == nil {
		r.o.renameNew = renameNew
	}
	if r.o.Logger == nil {
		r.o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := r.step(StepFind, r.path, find); err != nil {
		return err
	}
	defer func() { // also when a callback panics
		if cleanErr := r.cleanUp(); cleanErr != nil {
			err = errors.Join(err, cleanErr)
		}
	}()
	return r.run()
}

// replacement is one file on its way into another's place.
type replacement struct {
	ctx    context.Context
	o      Options
	write  func(w io.Writer) error
	verify func(f *os.File) error

	// path is what is replaced: once found, without links. old describes the file that
	// may be replaced: what was found, and then what the caller was asked about. That
	// one is held open, if it may be read.
	path string
	old  os.FileInfo
	held *os.File
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

// step does one step, unless the work was cancelled.
func (r *replacement) step(s Step, path string, do func() error) error {
	err := r.begin(s)
	if err == nil {
		err = do()
	}
	if err != nil {
		return stepError(s, path, err)
	}
	return nil
}

func (r *replacement) begin(s Step) error {
	// Behind the rename there is nothing that cancelling could still prevent.
	if !r.inPlace {
		if err := context.Cause(r.ctx); err != nil {
			return err
		}
	}
	if r.o.Before != nil {
		return r.o.Before(s)
	}
	return nil
}

// find follows links, so that the file is replaced and not the link to it.
func (r *replacement) find() error {
	path, err := links.Resolve(r.path)
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
	r.path, r.old = path, info
	return nil
}

// findNothing makes sure that nothing is replaced. Whatever comes to the path
// before the new file does is safe as well, see place.
func (r *replacement) findNothing() error {
	dir, err := links.Resolve(filepath.Dir(r.path))
	if err != nil {
		return err
	}
	r.path = filepath.Join(dir, filepath.Base(r.path))
	if _, err := os.Lstat(r.path); err == nil {
		return iofs.ErrExist
	} else if !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return nil
}

func (r *replacement) dir() string { return filepath.Dir(r.path) }

func (r *replacement) run() error {
	if err := r.step(StepSpace, r.path, r.checkSpace); err != nil {
		return err
	}
	if err := r.step(StepCreate, r.path, r.create); err != nil {
		return err
	}
	for _, do := range []func() error{r.fill, r.ask, r.keepOld, r.putInPlace} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func (r *replacement) checkSpace() error {
	if r.o.Size <= 0 {
		return nil
	}
	space, err := diskspace.Of(r.dir())
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err == nil && space.Free < r.o.Size {
		err = &SpaceError{Need: r.o.Size, Free: space.Free}
	}
	return err
}

func (r *replacement) create() error {
	temp, err := createTemp(r.path)
	r.temp = temp
	return err
}

// fill writes the new file and makes it last.
func (r *replacement) fill() error {
	path := r.temp.path
	if err := r.step(StepWrite, path, func() error { return r.writeAll(r.temp.File, StepWrite, r.write) }); err != nil {
		return err
	}
	if err := r.step(StepMode, path, r.setMode); err != nil {
		return err
	}
	return r.step(StepSync, path, r.temp.Sync)
}

// setMode sets permission bits, owner and extended attributes.
func (r *replacement) setMode() error {
	switch {
	case !r.fresh:
		old, err := filelock.OpenFile(r.path, os.O_RDONLY, 0)
		if err != nil {
			// It may be gone, which check tells. If it is not, nobody can tell whom it
			// lets in.
			r.own(r.temp.File, r.old, r.ownerOnly(r.old, err))
			break
		}
		defer old.Close() // It was only read.
		r.model(r.temp.File, old, r.old)
	case r.like != nil:
		info, err := r.like.Stat()
		if err != nil {
			r.lost(err)
			break
		}
		r.model(r.temp.File, r.like, info)
	case !r.o.Private:
		return r.likeFolder()
	}
	return nil
}

// model makes f the like of a file that info describes, as far as that can be: what f
// holds is worth more than how it looks. An access control list moves the permission
// bits, which so come last.
func (r *replacement) model(f, like *os.File, info os.FileInfo) {
	mode := info.Mode() & allBits
	if err := takeAccessList(f, like); err != nil {
		mode = r.ownerOnly(info, err)
	}
	if err := takeAttributes(f, like); err != nil {
		r.lost(err)
	}
	r.own(f, info, mode)
}

// allBits are those of a mode that a new file takes over.
const allBits = os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky

// own gives f an owner and mode bits. Until then it is private, so that if it
// can't, nobody may read it who should not.
func (r *replacement) own(f *os.File, like os.FileInfo, mode os.FileMode) {
	if err := takeOver(f, like, mode); err != nil {
		r.lost(err)
	}
}

func (r *replacement) lost(err error) {
	r.o.Logger.Warn("the new file does not look as it should: not all attributes were carried over",
		"path", r.path, "err", err)
}

// ownerOnly gives the permission bits of a file whose access control list is not
// carried over. With a list, the group's bits are but the most that it lets anybody
// have, and whoever it shuts out by name may be one of those who are let in without it.
func (r *replacement) ownerOnly(info os.FileInfo, err error) os.FileMode {
	const ofOwner = 0o700
	r.o.Logger.Warn("nobody but its owner may use the new file: the access control list was not carried over",
		"path", r.path, "err", err)
	return info.Mode().Perm() & ofOwner
}

func (r *replacement) likeFolder() error {
	const ofFiles = 0o666
	dir, err := os.Stat(r.dir())
	if err != nil {
		return err
	}
	return r.temp.Chmod(dir.Mode().Perm() & ofFiles)
}

// ask lets the caller judge the new file and the old one.
func (r *replacement) ask() error {
	if err := r.step(StepVerify, r.temp.path, r.readBack); err != nil {
		return err
	}
	if err := r.step(StepCheck, r.path, r.judge); err != nil {
		return err
	}
	return r.step(StepReady, r.temp.path, func() error {
		info, err := r.temp.Stat()
		if err != nil || r.o.Ready == nil {
			return err
		}
		return r.o.Ready(info)
	})
}

func (r *replacement) check() error {
	if r.o.Check == nil {
		return nil
	}
	return r.o.Check()
}

func (r *replacement) readBack() (err error) {
	if r.verify == nil {
		return nil
	}
	f, err := filelock.OpenFile(r.temp.path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	if !r.temp.isAt(r.temp.path) {
		return errors.New("another file took its place")
	}
	return r.verify(f)
}

// dropNames leaves no temporary name, but to a file that has no other and that somebody
// may want. The backup's and the swapped one go first: Sweep takes them for abandoned
// once the new file's is gone.
func (r *replacement) dropNames() error {
	var errs []error
	remove := func(path string) {
		if err := os.Remove(path); err != nil && !errors.Is(err, iofs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("a temporary file is left: %w", err))
		}
	}
	if r.backup != "" {
		remove(r.backup)
	}
	if r.swap != "" {
		errs = append(errs, r.dropSwap())
	}
	remove(r.temp.path)
	return errors.Join(errs...)
}

// cleanUp leaves nothing open and no temporary names, whatever happened.
func (r *replacement) cleanUp() error {
	defer r.letGo()
	if r.temp == nil || r.temp.closed && r.inPlace {
		return r.left
	}
	if closeFirst {
		_ = r.temp.close() // Nothing is lost: the file goes.
	}
	err := r.dropNames()
	_ = r.temp.close() // As above, or closed long ago.
	return err
}
