// Package pending keeps the edits of a source that are not saved yet, so that they
// outlast the process. A source is a file or a folder, and goes by its path without
// links; what an edit is, and how sources are saved, is for packages session (data
// centers) and folderedit (folders) to know.
//
// Of each source there may be, in the user's state folder,
//
//	lock/HASH.lock      held by the process that edits it (package filelock)
//	KIND/HASH.journal   edits that are not saved (package journal)
//
// where HASH is made of its path, and KIND is the folder of a [Kind] of sources. A
// journal of a source that was moved has lost it, until it is moved back: [List]
// shows it all the same, as its header has the path.
//
// A journal is made when there is the first edit to keep, and removed when all of it
// is saved and sure to last. Before a file that is new is put in place, the journal
// is told what it will be (an [Identity]), so that after a crash one of three things
// is the case: the source is what the edits were made on, and they are made again; or
// it is what they were saved as, and the journal goes; or somebody else has changed
// it, and the journal is kept until its owner decides.
//
// If a source was replaced by somebody else while it was edited, its place is theirs:
// what was edited is written to a new file, NAME.conflict-TIME beside it or, where
// that can't be, beside the journal, which is kept as well. If the source was written
// over in its place, nobody has what the edits were made on any more: they are written as
// text, for people, beside the journal: HASH-NAME.edits-TIME.txt.
//
// A journal with damage is refused, or salvaged: the records ahead of the damage
// take its place. One that ends in a torn record goes on with the records ahead of it,
// without being asked. In both cases it is kept as NAME.journal.damaged, or
// NAME.journal.damaged.N, which is listed until somebody gives it up. A journal of an
// earlier version of the format is written anew before anything is added to it.
//
// The first byte of a record is its kind, and what follows is for that kind to say. A
// later version may add kinds, as for the values that edits replace and for what a journal
// needs to be read without its source. Those that begin with a small letter are passed
// over by who does not know them, see [UnknownKind]; any other makes the journal one that
// is refused. The headers are JSON, of which unknown fields are passed over.
package pending
