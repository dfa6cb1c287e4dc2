// Package casctree shows a CASC storage as a [nodes.Tree]:
//
//	files/…                   files by the names in the root and the list files
//	unnamed/0012/00123456.dat files that the root knows by ID only, in hex
//	by-id/1193046             any file of a root that has IDs, by its ID in decimal
//	content/ab/abcd…          any content key in the encoding file
//	install/TAG/…             the install manifest's files, by tag
//	config/                   the files that say which build is installed
//	manifests/NAME/000000.jsonl  tables of the storage, decoded, a line an entry
//	casc.json                 product, build, and counts of files
//	storage.svg               a drawing of the sizes of folders, and which of it is local
//
// # Names
//
// Directories whose names differ only in case are one, with the name of the first, so that
// a path is found in any case. Files keep their case; a file is also found in another case
// if there is none in that case. Listings are sorted by the names in lower case.
//
// Names are escaped reversibly, see names.go. A manifest that is nested in another, OUTER:,
// is a directory OUTER with its files, and its own file there is %. If several files have
// one name, mostly for different languages, the file for the storage's language gets it, or
// the first one; files that the game skips (root.ContentFlags.Rank) come last. The others
// are NAME%~2, NAME%~3 and so on in the same order, without those of equal content. A file
// with the name of a directory is NAME%~0. A file with a hash but no name or ID is in
// unnamed/ by its hash of 16 digits; others without a name are there by their key of 32
// digits.
//
// # Missing files and keys
//
// A file whose data is not local is not listed, unless Options.Missing is set, and reading
// it fails with [nodes.ErrUnavailable]. Directories of such files are listed. Files whose
// key is not known are listed and fail with [nodes.ErrNoKey]. content/ has a directory for
// each first byte of a key. These list nothing, since there may be millions of keys, but
// any key is found, local or not. The same goes for by-id/. Of the files of one ID it has the one
// that gets the name.
//
// ReadFilled is for those who know what zeros mean in a file, such as a client table.
//
// With casc.Options.FillMissingKeys a file with chunks of unknown keys is read, with zeros for
// those chunks. Its extended attribute [XattrPartial] says where they are.
//
// A content with several encoded forms is read from any form that is local and whole.
//
// # Names in memory
//
// All names lie in one table of bytes, with 19 bytes, 8 for its ID, and the last part of the name for each
// file, and no Go value for any of them. The table is made once from root, list files and
// encoding file, and kept in Options.Index. The next run uses it as it is, if everything it
// was made from has the same hashes. It has the sizes, so stat(2) reads nothing else. Only
// whether a file is local is looked up in the storage's index when a directory is listed.
//
// # Manifests
//
// A file of a manifest has 4096 entries, or those of 32 pages of the encoding file. Its
// size is known only after rendering it: the first look at a file in manifests/NAME renders all
// files there, and keeps only the sizes. To list their names, entries are only counted.
// manifests/idx shows the local index of that moment. Once
// somebody writes to the index files in place, it fails with [nodes.ErrChanged].
//
// # Reading ahead
//
// When a program has read the end of a file and goes on with one behind it in the listing, or
// reads a file in pieces, the tree decodes what comes next, on the cores that are free, up to 8
// MiB and an eighth of the cache. Of a remote storage nothing is decoded before it is asked for.
//
// # Updates
//
// The game and its updater may run meanwhile. Every few seconds, and whenever a read fails,
// the tree looks at the folder, takes over the new index, and tries the read again. Files
// whose data is gone or was written over since they were opened fail with
// [nodes.ErrChanged]. The tree stays that of the build that was open. Checksums lead from
// the build to each chunk, so that no half-finished update is ever shown. A file with
// encrypted chunks is compared with its content key as a whole when such a chunk is first
// needed.
//
// IDs are places in the table, which is the same at every mount of one build with the same
// list files.
package casctree
