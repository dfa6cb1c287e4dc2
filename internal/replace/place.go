package replace

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"

	"lorefs/internal/disk"
)

// Place replaces the old file: from here on, path is the new file. If a file of another
// program came at the last moment, Place puts that back.
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

// SyncDir removes all names but the last one of the new file, while its lock still keeps
// Sweep away, and syncs the folder. If it fails, the new file may not outlast a power cut:
// the error matches ErrUnsynced.
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

// nameToSwap gives the new file the name that is exchanged. It keeps its other name, by
// which Sweep can tell whether the exchange took place, and whether the writer lives. If
// files can have only one name, nothing is exchanged.
func (f *File) nameToSwap() error {
	swap := f.temp.sibling(swapMark)
	if f.disk.Link(f.temp.path, swap) == nil {
		f.swap = swap
	}
	return nil
}

// place gives the new file the name of the old one, or a new name.
func (f *File) place() error {
	// Ask again, since keeping the old file takes time.
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
		// The file system may not support it, and reports that in many ways. If there is
		// another cause, the rename below fails too.
		if err := f.dropSwap(); err != nil {
			return err
		}
	}
	if !f.isOldAt(f.path) {
		return f.changed()
	}
	err := f.disk.Rename(f.temp.path, f.path)
	if err != nil && closeFirst {
		return f.placeAfter(err)
	}
	return err
}

// placeAfter moves the old file away before it gives its name to the new one, since not every
// file system can replace a file that is open. For a moment no file has the name: if the process
// dies then, Sweep finds the old one. err is the error of replacing it at once.
func (f *File) placeAfter(err error) error {
	aside := f.temp.sibling(swapMark)
	if moveErr := f.disk.Rename(f.path, aside); moveErr != nil {
		return err
	}
	if f.isOldAt(aside) {
		if err = f.disk.Rename(f.temp.path, f.path); err == nil {
			f.swap = aside // SyncDir removes it
			return nil
		}
	} else {
		err = f.changed()
	}
	if _, there := os.Lstat(f.path); errors.Is(there, iofs.ErrNotExist) {
		if backErr := f.disk.Rename(aside, f.path); backErr == nil {
			return err
		}
	}
	f.swap = aside // Cleanup gives it a lasting name
	return err
}

// placeNew gives the new file its name, which must not exist yet. It can replace a file that
// comes at the last moment only if the system can neither link nor rename without replacing.
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

// giveBack puts the file of another program back in its place.
func (f *File) giveBack() error {
	if err := f.step(StepGiveBack, f.path, f.swapBack); err != nil {
		return errors.Join(stepError(StepLook, f.path, ErrChanged), err)
	}
	f.inPlace = false
	return stepError(StepLook, f.path, f.changed())
}

// swapBack exchanges the two names again. If what comes out is not what was put in place
// before, another file has come meanwhile. That is the newest, so it gets the place.
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

// dropSwap removes the name that was exchanged if its file has another name or is not needed
// any more. Otherwise it gives the file a lasting name.
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
