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
			// It may be gone, which check finds out. If it is not, it is unknown whom its
			// access control list admits.
			f.own(f.temp.OS(), f.old, f.ownerOnly(f.old, err))
			break
		}
		defer old.Close() // nothing was written to it
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

// model gives to the attributes of like, which info describes, as far as possible: the
// content is worth more than the attributes. Setting an access control list changes the
// permission bits, so these come last.
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

// allBits are the mode bits that a new file takes over.
const allBits = os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky

// own gives a file an owner and mode bits. Until it succeeds the file is private, so that
// nobody may read it who could not read the old one.
func (f *File) own(to *os.File, like os.FileInfo, mode os.FileMode) {
	if err := takeOver(to, like, mode); err != nil {
		f.lost(err)
	}
}

func (f *File) lost(err error) {
	f.o.Logger.Warn("not all attributes of the old file could be carried over to the new one",
		"path", f.path, "err", err)
}

// ownerOnly returns the permission bits for a file whose access control list is not carried
// over. With a list, the bits of the group are the most that it allows anybody, and users
// whom it excludes by name may belong to those whom the bits admit.
func (f *File) ownerOnly(info os.FileInfo, err error) os.FileMode {
	const ofOwner = 0o700
	f.o.Logger.Warn("only its owner may use the new file, because the access control list could not be carried over",
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
