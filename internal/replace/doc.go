// Package replace puts a new file in the place of an old one such that a crash, a
// kill or a power cut at any point leaves the old file or the new one, whole, and
// that nobody else's file is lost.
//
// Beside the file NAME there may be, where R are 16 random hexadecimal digits:
//
//	.NAME.lorefs-R.tmp        the new file, until the end
//	.NAME.lorefs-R.bak.tmp    a second name of the old file, until it is NAME.bak
//	.NAME.lorefs-R.copy.tmp   a copy of the old file, where files have only one name
//	.NAME.lorefs-R.swap.tmp   a second name of the new file, to be exchanged with NAME
//	NAME.bak                  the old file
//	NAME.kept-R               a file that had no name left but a temporary one
//
// The steps are methods of [File], in this order, and why each is taken:
//
//   - Begin: links are followed, so that what NAME leads to is replaced, in its own folder,
//     but not those that somebody may have planted (package links). A disk that is too full is
//     told of before the work is done. The new file is made, readable by its owner only, and
//     locked (flock, see package filelock). The lock tells Sweep that its writer lives.
//   - Write.
//   - Sync: owner, permission bits and extended attributes become the old file's, as far as the
//     process may set them. The file is synced, as a name must not last longer than what the
//     file holds.
//   - ReadBack: the caller reads the file, opened anew, before it replaces anything.
//   - Hold: the caller says whether the old file is still the one that it means. From here
//     on, that is the only file which may be replaced, and it is held open, so that no other
//     can get its number.
//   - KeepOld: the old file gets a second name, and what was linked is compared with the old
//     file. Another program's file that came to NAME since Hold would otherwise become
//     the backup, in the place of one that is worth more. Where the names of one file don't
//     look like one file, or there can be only one, it is copied. The second name becomes
//     NAME.bak, and the folder is synced: the old file must have a lasting name before it loses
//     its own.
//   - Here a caller may note what the new file looks like, to know it after a crash.
//   - Place: the new file gets a second name, the caller is asked again, as all this takes the
//     disk some time, and that name is exchanged with NAME. Unlike a rename, that destroys no
//     file that came to NAME at the last moment. What came out is compared with the old file. If
//     it is another one, the names are exchanged again until the newest of the files that came
//     is in place; then replacing has failed, with ErrChanged.
//   - SyncDir: the temporary names go, that of the new file last: until then, Sweep finds the
//     lock by it. Whichever of these changes a power cut undoes, the old file or the new one has
//     the name NAME. The folder is synced: only then the new file is sure to stay. If that fails,
//     the error is ErrUnsynced.
//   - Cleanup: whatever went wrong, no temporary name is left.
//
// Where the system, or the file system, can't exchange two names or give a file two of them,
// NAME is compared with the old file right before it is renamed over. Then another program
// would have to come between these two calls to lose its file. So far, names are exchanged on
// Linux only (renameat2).
//
// A new file where there was none is made by the same steps, without those that are about
// the old one; its last name is a link or, where there are none, a rename that replaces
// nothing.
//
// Sweep removes what a writer has left that died. Between the exchange and the end, the
// name .swap.tmp holds the old file, of which there may be no other copy, or another
// program's that nobody has looked at; and .bak.tmp may hold an old file that another program
// has replaced meanwhile. So Sweep removes these two only if their file has one of the other
// names as well: NAME, NAME.bak, or that of the new file, which stays as long as the others
// do for just this reason. Else it makes the file NAME.kept-R, and tells of it.
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
