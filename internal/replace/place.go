package replace

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"

	"lorefs/internal/disk"
)

// Place gives the new file the place of the old one. It is the one moment at which the new
// file becomes the file. If another program's file came at the last moment, that gets its
// place back.
func (f *File) Place() error {
	if !f.fresh && disk.CanExchange {
		if err := f.step(StepName, f.path, f.nameToSwap); err != nil {
			return err
		}
	}
	if err := f.step(StepRename, f.path, f.place); err != nil {
		return err
	}
	if f.inPlace = true; f.swap != "" && !f.isOldAt(f.swap) {
		return f.giveBack()
	}
	f.looked = true
	return nil
}

// SyncDir gives up all names but the new file's, while its lock still keeps Sweep from
// taking them for abandoned, and makes that last. Only then the new file is sure to stay: an
// error matches ErrUnsynced.
func (f *File) SyncDir() error {
	f.left = f.dropNames()
	err := f.disk.SyncDir(f.dir())
	if closeErr := f.temp.close(); err == nil {
		err = closeErr
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnsynced, err)
	}
	return stepError(StepSyncDir, f.dir(), err)
}

// nameToSwap gives the new file the name that is to be exchanged. Its other one stays:
// by that, Sweep can tell whether the exchange was made, and whether the writer lives.
// Where files have only one name, nothing is exchanged.
func (f *File) nameToSwap() error {
	swap := f.temp.sibling(swapMark)
	if f.disk.Link(f.temp.path, swap) == nil {
		f.swap = swap
	}
	return nil
}

// place gives the new file the name of the old one, or a new name.
func (f *File) place() error {
	// Asked again, since to keep the old file takes the disk some time.
	if err := f.check(); err != nil {
		return err
	}
	if closeFirst {
		f.letGo()
		if err := f.temp.close(); err != nil {
			return err
		}
	}
	if f.fresh {
		return f.placeNew()
	}
	if f.swap != "" {
		if f.disk.Exchange(f.swap, f.path) == nil {
			return nil
		}
		// The file system may not know how to, which has too many names to list them. If
		// it is something else, renaming fails as well.
		if err := f.dropSwap(); err != nil {
			return err
		}
	}
	if !f.isOldAt(f.path) {
		return f.changed()
	}
	return f.disk.Rename(f.temp.path, f.path)
}

// placeNew gives the new file a name that there is not yet. Only where a system can
// neither link nor rename without replacing, a file is replaced that comes within the
// last moment.
func (f *File) placeNew() error {
	err := f.disk.Link(f.temp.path, f.path)
	if err == nil || errors.Is(err, iofs.ErrExist) {
		return err
	}
	err = f.disk.RenameNew(f.temp.path, f.path)
	if err == nil || errors.Is(err, iofs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(f.path); err == nil {
		return iofs.ErrExist
	}
	return f.disk.Rename(f.temp.path, f.path)
}

// giveBack puts what is not the old file back in its place.
func (f *File) giveBack() error {
	if err := f.step(StepGiveBack, f.path, f.swapBack); err != nil {
		return errors.Join(stepError(StepLook, f.path, ErrChanged), err)
	}
	f.inPlace = false
	return stepError(StepLook, f.path, f.changed())
}

// swapBack exchanges the two names again. If that does not bring out what was put in
// place the last time, another file has come there meanwhile. It is the newest one, so
// the place is its own.
func (f *File) swapBack() error {
	inPlace, err := f.temp.Stat()
	if err != nil {
		return err
	}
	const most = 10
	for range most {
		put, err := os.Lstat(f.swap)
		if err != nil {
			return err
		}
		if err := f.disk.Exchange(f.swap, f.path); err != nil {
			return err
		}
		out, err := os.Lstat(f.swap)
		if err != nil || os.SameFile(out, inPlace) {
			return err
		}
		inPlace = put
	}
	return fmt.Errorf("other files came to its place %d times: %w", most, ErrChanged)
}

// dropSwap gives up the name that is exchanged, if the file that it leads to has
// another one or is not wanted any more. Else the file keeps a name that lasts.
func (f *File) dropSwap() error {
	info, err := os.Lstat(f.swap)
	if err == nil && (f.isNew(info) || f.looked && f.isOld(info)) {
		err := f.drop(f.swap)
		if err == nil {
			f.swap = ""
		}
		return err
	}
	swap := f.swap
	f.swap = ""
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	kept, err := keep(f.disk, swap, f.path)
	return errors.Join(&KeptError{File: f.path, Kept: kept}, err)
}
