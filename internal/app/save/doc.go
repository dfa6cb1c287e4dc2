// Package save edits a set of files in their places, so that nothing is lost: it keeps the
// edits that are not saved yet, so that they outlast the process, and puts new files in the
// place of old ones. A source is a folder of files or one file, which is a set of one, and goes
// by its path without links. What is in the files, and what an edit is, others know.
//
// [Set.Commit] is the protocol of a save: it is one function, to be read from top to bottom.
//
// Of each source there may be, in the user's state folder,
//
//	lock/HASH.lock      held by the process that edits it (package filelock)
//	KIND/HASH.journal   edits that are not saved (package journal)
//
// where HASH is made of its path, and KIND is the folder of a [Kind] of sources. A
// journal of a source that was moved has lost it, until it is moved back: [Kinds.List]
// shows it all the same, as its header has the path.
//
// # The journal
//
// A journal is made when there is the first edit to keep, and removed when all of it is saved
// and sure to last. Its header is JSON, of which unknown fields are passed over, and says which
// folder it belongs to, or which file and what that was (an [Identity]: size and SHA-256). Its
// records begin with a letter. In a folder they are about one file each, by its name:
//
//	'F' {json}                the file to which the edits behind belong; for one file, the header
//	'E' length:2 name record  an edit; for one file, without length and name
//	'N' length:2 name record  likewise, an edit of the file that the 'S' behind announces
//	'S' {json}                the file that is about to take the place, or that may be put there,
//	                          and how many 'N' right ahead are edits of it
//	'D' {json}                it has taken the place, or the file is what the edits make of it
//	'b' length:2 name mark note  what the file holds that the edits belong to: its SHA-256 begins
//	                          with the 8 bytes of mark; for one file, without length and name
//
// A new file is written from a snapshot, and may be edited meanwhile: such edits are added as
// 'E' of the old file first, as that is all there is, and all of them once more as 'N' of the
// new one before that is announced. So after a crash each file is one of three things:
//
//   - what 'F' or 'D' says last: the 'E' behind that are made again, and the 'N' ahead of 'D',
//   - what 'S' says: the 'N' ahead of it are made again, and if there are none, all is saved,
//   - another, as somebody else has changed it: nothing is made again, nor lost, until its owner
//     decides.
//
// That both are in one file makes announcing one append and one sync, of which a crash leaves
// all or nothing that counts. A second journal would have to be made, named and synced, and take
// the place of the first, while nobody can edit.
//
// A 'b' says nothing about an edit, but about the file, which another process may have replaced
// by the time that somebody reads the journal: with it, the edits can still be told. So it may
// come at any time, or never, and what it says can't get out of step with the edits: it is
// passed over unless the edits that are not saved belong to the file with its mark.
//
// A later version may add kinds of records. Those that begin with a small letter are passed
// over by who does not know them; any other makes the journal one that is refused.
//
// A journal with damage is refused, or salvaged: the records ahead of the damage
// take its place. One that ends in a torn record goes on with the records ahead of it,
// without being asked. In both cases it is kept as NAME.journal.damaged, or
// NAME.journal.damaged.N, which is listed until somebody gives it up. A journal of an
// earlier version of the format is written anew before anything is added to it.
//
// # Another program's file
//
// If a file was replaced by somebody else while it was edited, its place is theirs:
// what was edited is written to a new file, NAME.conflict-TIME beside it or, where
// that can't be, beside the journal, which is kept as well. The journal has an 'S' of it: it may
// be put in the file's place. If the file was written over in its place, nobody has what the
// edits were made on any more: they are written as text, for people, beside the journal:
// HASH-NAME.edits-TIME.txt.
package save
