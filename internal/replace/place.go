package replace

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
)

// putInPlace is the one moment at which the new file becomes the file.
func (r *replacement) putInPlace() error {
	if r.wantsExchange() {
		if err := r.step(StepName, r.path, r.nameToSwap); err != nil {
			return err
		}
	}
	if err := r.step(StepRename, r.path, r.place); err != nil {
		return err
	}
	if r.inPlace = true; r.swap != "" {
		if err := r.step(StepLook, r.path, r.look); err != nil {
			return r.giveBack(err)
		}
	}
	r.looked = true
	if err := r.outlast(); err != nil {
		return stepError(StepSyncDir, r.dir(), fmt.Errorf("%w: %w", ErrUnsynced, err))
	}
	return nil
}

// wantsExchange tells whether the new file is to swap names with the old one, so that
// what was in its place can be looked at before it is gone.
func (r *replacement) wantsExchange() bool { return !r.fresh && r.o.exchange != nil }

// nameToSwap gives the new file the name that is to be exchanged. Its other one stays:
// by that, Sweep can tell whether the exchange was made, and whether the writer lives.
// Where files have only one name, nothing is exchanged.
func (r *replacement) nameToSwap() error {
	swap := r.temp.sibling(swapMark)
	if r.o.link(r.temp.path, swap) == nil {
		r.swap = swap
	}
	return nil
}

// place gives the new file the name of the old one, or a new name.
func (r *replacement) place() error {
	// Asked again, since to keep the old file takes the disk some time.
	if err := r.check(); err != nil {
		return err
	}
	if closeFirst {
		r.letGo()
		if err := r.temp.close(); err != nil {
			return err
		}
	}
	if r.fresh {
		return r.placeNew()
	}
	if r.swap != "" {
		if r.o.exchange(r.swap, r.path) == nil {
			return nil
		}
		// The file system may not know how to, which has too many names to list them. If
		// it is something else, renaming fails as well.
		if err := r.dropSwap(); err != nil {
			return err
		}
	}
	if !r.isOldAt(r.path) {
		return r.changed()
	}
	return os.Rename(r.temp.path, r.path)
}

// placeNew gives the new file a name that there is not yet. Only where a system can
// neither link nor rename without replacing, a file is replaced that comes within the
// last moment.
func (r *replacement) placeNew() error {
	err := r.o.link(r.temp.path, r.path)
	if err == nil || errors.Is(err, iofs.ErrExist) {
		return err
	}
	err = r.o.renameNew(r.temp.path, r.path)
	if err == nil || errors.Is(err, iofs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(r.path); err == nil {
		return iofs.ErrExist
	}
	return os.Rename(r.temp.path, r.path)
}

// look looks at what the exchange has brought out.
func (r *replacement) look() error {
	if !r.isOldAt(r.swap) {
		return ErrChanged
	}
	return nil
}

// giveBack puts what is not known to be the old file back in its place. The error is
// why.
func (r *replacement) giveBack(why error) error {
	if err := r.step(StepGiveBack, r.path, r.swapBack); err != nil {
		return errors.Join(why, err)
	}
	r.inPlace = false
	if errors.Is(why, ErrChanged) {
		return stepError(StepLook, r.path, r.changed())
	}
	return why
}

// swapBack exchanges the two names again. If that does not bring out what was put in
// place the last time, another file has come there meanwhile. It is the newest one, so
// the place is its own.
func (r *replacement) swapBack() error {
	inPlace, err := r.temp.Stat()
	if err != nil {
		return err
	}
	const most = 10
	for range most {
		put, err := os.Lstat(r.swap)
		if err != nil {
			return err
		}
		if err := r.o.exchange(r.swap, r.path); err != nil {
			return err
		}
		out, err := os.Lstat(r.swap)
		if err != nil || os.SameFile(out, inPlace) {
			return err
		}
		inPlace = put
	}
	return fmt.Errorf("other files came to its place %d times: %w", most, ErrChanged)
}

// dropSwap gives up the name that is exchanged, if the file that it leads to has
// another one or is not wanted any more. Else the file keeps a name that lasts.
func (r *replacement) dropSwap() error {
	swap := r.swap
	r.swap = ""
	info, err := os.Lstat(swap)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err == nil && (r.isNew(info) || r.looked && r.isOld(info)) {
		return os.Remove(swap)
	}
	kept, err := keep(swap, r.path)
	return errors.Join(&KeptError{File: r.path, Kept: kept}, err)
}

// outlast gives up all names but the new file's, while its lock still keeps Sweep from
// taking them for abandoned, and makes that last.
func (r *replacement) outlast() error {
	r.left = r.dropNames()
	err := r.begin(StepSyncDir)
	if err == nil {
		err = SyncDir(r.dir())
	}
	if closeErr := r.temp.close(); err == nil {
		err = closeErr
	}
	return err
}
