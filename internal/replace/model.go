package replace

import (
	"os"

	"lorefs/internal/filelock"
)

// setMode sets permission bits, owner and extended attributes.
func (f *File) setMode() error {
	switch {
	case !f.fresh:
		old, err := filelock.OpenFile(f.path, os.O_RDONLY, 0)
		if err != nil {
			// It may be gone, which check tells. If it is not, nobody can tell whom it
			// lets in.
			f.own(f.temp.OS(), f.old, f.ownerOnly(f.old, err))
			break
		}
		defer old.Close() // It was only read.
		f.model(f.temp.OS(), old, f.old)
	case f.like != nil:
		info, err := f.like.Stat()
		if err != nil {
			f.lost(err)
			break
		}
		f.model(f.temp.OS(), f.like, info)
	case !f.o.Private:
		return f.likeFolder()
	}
	return nil
}

// model makes to the like of a file that info describes, as far as that can be: what it
// holds is worth more than how it looks. An access control list moves the permission
// bits, which so come last.
func (f *File) model(to, like *os.File, info os.FileInfo) {
	mode := info.Mode() & allBits
	if err := takeAccessList(to, like); err != nil {
		mode = f.ownerOnly(info, err)
	}
	if err := takeAttributes(to, like); err != nil {
		f.lost(err)
	}
	f.own(to, info, mode)
}

// allBits are those of a mode that a new file takes over.
const allBits = os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky

// own gives a file an owner and mode bits. Until then it is private, so that if it
// can't, nobody may read it who should not.
func (f *File) own(to *os.File, like os.FileInfo, mode os.FileMode) {
	if err := takeOver(to, like, mode); err != nil {
		f.lost(err)
	}
}

func (f *File) lost(err error) {
	f.o.Logger.Warn("the new file does not look as it should: not all attributes were carried over",
		"path", f.path, "err", err)
}

// ownerOnly gives the permission bits of a file whose access control list is not
// carried over. With a list, the group's bits are but the most that it lets anybody
// have, and whoever it shuts out by name may be one of those who are let in without it.
func (f *File) ownerOnly(info os.FileInfo, err error) os.FileMode {
	const ofOwner = 0o700
	f.o.Logger.Warn("nobody but its owner may use the new file: the access control list was not carried over",
		"path", f.path, "err", err)
	return info.Mode().Perm() & ofOwner
}

func (f *File) likeFolder() error {
	const ofFiles = 0o666
	dir, err := os.Stat(f.dir())
	if err != nil {
		return err
	}
	return f.temp.OS().Chmod(dir.Mode().Perm() & ofFiles)
}
