// Package replace puts a new file in the place of an old one such that a crash, a
// kill or a power cut at any point leaves the old file or the new one, whole.
//
// The new file is written beside the old one, checked, and renamed over it:
//
//	.NAME.lorefs-0123456789abcdef.tmp       the new file until it is in place
//	.NAME.lorefs-0123456789abcdef.bak.tmp   the backup until it is in place
//	NAME.bak                                the old file
//
// In order: room is looked for; the temporary file is made, readable by its owner
// only, and locked; it is written, given the old file's permission bits (and owner
// and extended attributes, where the process may), synced, opened anew and verified;
// the caller says whether the old file is still what it was, and notes what the new
// one looks like; the old file gets a second name, which is renamed over NAME.bak, and
// the folder is synced, so that the old file has a lasting name; the new file is
// renamed over NAME, and the folder is synced again.
//
// A new file where there was none is made by the same steps, without those that
// are about the old one.
//
// The lock on the temporary file (flock, see package filelock) tells Sweep that
// its writer lives. It is kept until the file is in place.
//
// If NAME is a symbolic link, the file that it leads to is replaced, in its own
// folder and under its own name.
//
// renameio is not used as it syncs, closes and renames in one call, which leaves
// no moment to verify, to make a backup or to hold a lock, syncs no folder, and
// makes names that Sweep could not tell from others'.
//
// Extended attributes are those of Linux, macOS, FreeBSD and NetBSD; access control
// lists are among them on Linux only. What vouches for a file's content is left out.
// Those that can't be carried over keep no file from being replaced.
// A file whose list can't be carried over is its owner's alone, and attributes that
// the folder gives a new file are taken away unless the old one has them.
//
// On Windows, folders cannot be synced, the file keeps the rights that its folder
// gives it, and it has to be closed, and so unlocked, just before it is renamed.
// Where the free space cannot be asked for, it is not looked at; where files
// cannot be locked, Sweep removes nothing.
package replace
