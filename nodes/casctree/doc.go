// Package casctree shows a CASC storage as a [nodes.Tree]:
//
//	files/…                   by the names that the root and the list files give
//	unnamed/0012/00123456.dat what the root knows by ID only, in hex
//	content/ab/abcd…          any content key that the encoding file has
//	install/TAG/…             the install manifest's files, by tag
//	config/                   what says which build is installed, as it is
//	manifests/NAME/000000.jsonl  tables of the storage, decoded, a line an entry
//	casc.json                 product, build, and counts of files
//
// # Names
//
// Directories whose names differ in case only are one, called as the first of them:
// so a path in any case is found. Files keep their case; one that is asked for in
// another case is found if there is none in that case. Listings are in the order of
// names in lower case.
//
// Names are escaped as names.go says, so that each can be told back. A manifest that
// is nested in another, OUTER:, is a directory OUTER with its files, and itself its
// file %. Of several files of one name, which are of different languages mostly, the
// one for the storage's language has it, or the first; those that the game passes over
// (casc.ContentFlags.Rank) come last. The others are NAME%~2, NAME%~3 and so on in the
// same order, and those of the same content are left out. A file that has the name of a
// directory is NAME%~0. What has a hash but neither name nor ID is in unnamed/ by its
// hash of 16 digits, and the rest by its key of 32.
//
// # What is not here
//
// A file whose data is not local is not listed unless Options.Missing; reading it
// fails with [nodes.ErrUnavailable]. Directories of such files only are listed.
// Files whose key is not known are listed and fail with [nodes.ErrNoKey]. In content/
// there is a directory for each first byte of a key, and these list nothing: there
// may be millions. A key that is known is found, local or not.
//
// A file of which the storage has several encoded forms is read from any that is local
// and whole.
//
// # Names in memory
//
// All names lie in one table of bytes, with 19 bytes and the last part of the name
// for each file: no Go value for any of them. It is made from root, list files and
// encoding file once, and kept in Options.Index, from where it is taken as it is the
// next time, if all that it was made from has the same hashes. Sizes are in it, so
// that nothing else is read for stat(2); only whether a file is local is looked up in
// the storage's index when a directory is listed.
//
// # Manifests
//
// A file of a manifest has 4096 entries, or those of 32 pages of the encoding file.
// Its size takes rendering it: the first look into manifests/NAME renders all, and
// keeps the sizes only. manifests/idx stays the local index of that moment, for as long
// as nobody writes to its files in place: from then on it fails with [nodes.ErrChanged].
//
// # Updates
//
// The game and its updater may run meanwhile. Every few seconds, and whenever a read
// fails, the folder is looked at: what the index says now is taken over, and the read
// tried again. Files whose data is gone or was written over since they were opened
// fail with [nodes.ErrChanged]. The tree stays that of the build that was open.
// Checksums lead from the build to each chunk, so that what an update left half done
// is never handed out. A file of which some is encrypted is read through, and compared
// with its content key, when such a chunk of it is first needed.
//
// IDs are places in the table, which is the same at every mount of one build with the
// same list files.
package casctree
