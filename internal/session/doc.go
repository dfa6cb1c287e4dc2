// Package session edits a data center in its place, so that nothing is lost: it
// keeps the lock, the journal and the draft together, and saves.
//
// From the first edit on there is a journal in the user's state folder, named
// after the path of the source. Its header says which file the edits belong to
// (size and SHA-256); its records are
//
//	'E' edits …   a record of datacenter.Draft
//	'S' {json}    the file that is about to take the source's place
//
// The second one is written before the new file is put in place, so that after a
// crash one of three things is the case: the source is what the header says, and
// the edits are replayed; or it is what an 'S' record says, and all is saved; or
// somebody else has changed it, and the journal is kept until its owner decides.
//
// What is saved is written beside the source, read back and compared with the
// draft before it takes the source's place (package replace). Only when that is
// sure to last does the journal go, also if it is a later session that finds it.
// Edits made after that belong to the new file. If the journal fails, edits are
// refused, but saving goes on without it, as the draft has all that it holds.
//
// If the source was replaced by somebody else, what was edited is rescued to a file
// of its own, of which the journal has an 'S' record: it may be put in the source's
// place. Lock, journal and rescue are those of package pending.
package session
