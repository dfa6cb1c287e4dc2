// Package replace replaces a file so that a crash, a kill or a power cut at any point leaves
// the whole old file or the whole new file, and no file of another program is lost.
//
// Beside the file NAME there may be these files, where R are 16 random hexadecimal digits:
//
//	.NAME.lorefs-R.tmp        the new file, until the end
//	.NAME.lorefs-R.bak.tmp    a second name of the old file, until it becomes NAME.bak
//	.NAME.lorefs-R.copy.tmp   a copy of the old file, if files can have only one name
//	.NAME.lorefs-R.swap.tmp   a second name of the new file, to exchange with NAME
//	NAME.bak                  the old file
//	NAME.kept-R               a file that only had a temporary name left
//
// The steps are methods of [File], in this order:
//
//   - Begin follows links, so that the file which NAME leads to is replaced, in its own
//     folder. It does not follow links that others may have planted (package links). It
//     returns an error at once if the disk is too full. It makes the new file, readable by its
//     owner only, and locks it (flock, see package filelock). The lock shows Sweep that the
//     writer lives.
//   - Write writes the content.
//   - SyncAndReadBack gives the file the owner, permission bits and extended attributes of the
//     old file, as far as the process may set them. Then it syncs the file, since its name must
//     not become durable before its content. Meanwhile the caller checks the file, opened
//     again: both have to succeed before anything is replaced. The caller reads the same bytes
//     as after the sync, since a system reads what it has not written yet from its cache.
//   - Pin asks the caller whether the old file is still the expected one. After that, only
//     this file may be replaced. It stays open, so that no other file can get its number.
//   - KeepOld gives the old file a second name, and compares the linked file with the old one.
//     Otherwise a file that another program has put at NAME since Pin would replace a
//     backup that is worth more. If the names of one file don't look like one file, or files
//     can have only one name, it copies the old file. It renames the second name to NAME.bak,
//     and syncs the folder, since the old file must have a durable name before it loses NAME.
//   - Now a caller may record what the new file looks like, to recognize it after a crash.
//   - Place gives the new file a second name, asks the caller again, because the steps so far
//     take time, and exchanges the second name with NAME. Unlike a rename, an exchange destroys
//     no file that came to NAME at the last moment. Then it compares the file that came out
//     with the old one. If it is another one, it exchanges the names again until the newest
//     of the files is at NAME, and returns ErrChanged.
//   - SyncDir removes the temporary names, and that of the new file last, since Sweep finds
//     its lock by this name. Whichever of the changes a power cut undoes, NAME is the old file
//     or the new one. Then it syncs the folder, which makes the new file durable. If that
//     fails, it returns ErrUnsynced.
//   - Cleanup removes all temporary names, also after an error.
//
// If the system or the file system can't exchange names, or can't give a file two of them,
// the file at NAME is compared with the old one right before the rename. Then another
// program loses its file only if it comes between these two calls. Names are exchanged on
// Linux only (renameat2).
//
// A new file where there was none takes the same steps, except those for the old file. It
// gets its last name by a link or, if files can have only one name, by a rename that
// replaces nothing.
//
// Sweep removes what a writer that died has left. Between the exchange and the end, the name
// .swap.tmp has the only copy of the old file, or a file of another program. And .bak.tmp
// may have an old file that another program has replaced meanwhile. So Sweep removes these
// two only if their file also has one of the other names: NAME, NAME.bak, or that of the new
// file, which is removed last for this reason. Otherwise it renames the file to NAME.kept-R,
// and returns an error that names it.
//
// Package renameio does not fit. It syncs, closes and renames in one call, which leaves no
// moment to verify the file, to make a backup or to hold a lock. It syncs no folder, and
// Sweep could not tell its names from those of others.
//
// Extended attributes are carried over on Linux, macOS, FreeBSD and NetBSD, and access
// control lists on Linux only. Attributes that vouch for the content of the old file are not
// carried over. A file is also replaced if its attributes can't be set. If an access control
// list can't be set, only the owner may use the new file. Attributes that the folder gives
// the new file are removed unless the old file has them.
//
// On Windows folders can't be synced, the file keeps the rights that its folder gives it,
// and it must be closed, and so unlocked, right before it is renamed. If the system does not
// tell how much space is free, it is not checked. If it can't lock files, Sweep removes
// nothing.
package replace
