// Package save saves edits of files without losing any of them. It keeps unsaved edits in a
// journal, so that they survive the death of the process, and replaces each edited file by a new
// one. Only its callers know what a file contains and what an edit is. Files are edited as a
// source: a folder of files, or a single file, which is a set of one. A source is known by its path
// with all links resolved.
//
// [Set.Commit] is the protocol of a save. Read it from top to bottom.
//
// The user's state folder may hold these files for each source:
//
//	lock/HASH.lock      held by the process that edits the source (package filelock)
//	KIND/HASH.journal   unsaved edits (package journal)
//	KIND/HASH.base/NAME  the base: a copy of a file NAME as it was before these edits
//
// HASH is made of the path of the source, and KIND is the folder of its [Kind]. If a source is
// moved, its journal is not found until it is moved back. [Kinds.List] shows the journal all the
// same, since its header has the path.
//
// # The journal
//
// A journal is made for the first edit, and removed when all edits are saved and the new files are
// durable. Its header is JSON; a reader ignores fields that it does not know. It has the path of
// the folder, or the path of the file and its [Identity] (size and SHA-256). The first byte of a
// record is a letter that says what kind it is. If the source is a folder, each record is about one
// of its files and has the name of that file:
//
//	'F' {json}                the file that the following edits belong to; if the source is a file,
//	                          the header says so instead
//	'E' length:2 name record  an edit; if the source is a file, without length and name
//	'N' length:2 name record  like 'E', but an edit of the file that the next 'S' announces
//	'S' {json}                the new file that is about to replace the old one, or that the user
//	                          may put there, and how many 'N' right before it are edits of it
//	'D' {json}                the new file is in place
//	'c' length:2 name edits   how many edits the file has after all records before, as an unsigned
//	                          varint: some may have undone others; without it, each 'E' is one
//
// A new file is written from a snapshot, and users may go on editing meanwhile. Each such edit is
// first added as an 'E' of the old file, which is still in place. Before the new file is announced,
// all of them are added again as 'N' of the new file. So after a crash, each file is one of three:
//
//   - The file of the last 'F' or 'D'. The 'E' after that record are replayed, and the 'N' before
//     the 'D'.
//   - The file of the 'S'. The 'N' before it are replayed. If there are none, everything is saved.
//   - Any other file: another program changed it. Nothing is replayed, and nothing is lost, until the
//     user decides.
//
// Because the edits of both files are in one journal, the announcement takes a few appends and one
// sync. A crash leaves all of it, or nothing that counts. A second journal would have to be made,
// named, synced and moved to the place of the first, while nobody could edit.
//
// Later versions may add kinds of records. A reader ignores unknown kinds with a small letter, and
// refuses a journal with any other unknown kind. Earlier versions have described the files in records
// of the kind 'b', which are ignored.
//
// A damaged journal is refused or, if the user asks for it, salvaged: a journal of the records
// before the damage replaces it. If only the last record is torn, the records before it are used
// without asking. Either way the original is kept as NAME.journal.damaged or
// NAME.journal.damaged.N, and is listed until the user drops it. A journal of an earlier version of
// the format is rewritten before anything is added to it.
//
// # The base
//
// An edit is a change of some file, and means nothing without it. Before the first edit of a file is
// added to the journal, the file is copied to the state folder, so that the edits can be listed,
// counted and made a patch of ([Journal.Base]) also when somebody overwrites the file or removes it.
// The system copies it, which takes no time where the file system can share blocks. Elsewhere 42 MB
// that are in memory take some 20 ms.
//
// A base has a name of its own until it is whole, so a kill leaves all of it or none. It is synced
// at once, but the edit does not wait for that: [Set.Sync] does. After a power cut before that, its
// content may be any. But the journal says which content it must have, and a base is compared with
// that whenever it is opened. One with other content is said to be damaged, and is never used.
//
// An edit needs no base. If there is no room, that is logged once and editing goes on, and if
// the journal itself has no room, the base is removed to make some. The base is removed with the
// journal, and one that a dying process has left by the next session. After a save, the next edit
// makes another one, of the new file.
//
// # Files of other programs
//
// If another program replaced a file while it was edited, its file stays. The edited content is
// written to a new file, NAME.conflict-TIME, beside it or, if that fails, beside the journal. The
// journal is kept as well, and gets an 'S' of the new file, because the user may put that in place.
// If the other program overwrote the file itself, the process that edits it can't read it any more.
// Then the edits are written as a patch beside the journal:
// HASH-NAME.edits-TIME.lorepatch.
//
// # Files
//
// Read set.go and commit.go first: a [Set] is a source that is edited, and Commit saves it. ledger.go has its journal
// and its locks, resume.go what a crash has left in that, base.go the copy of what is edited, record.go the records.
// rescue.go writes conflict files. list.go and kind.go are for journals that nobody has open.
package save
