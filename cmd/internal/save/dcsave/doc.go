// Package dcsave edits a data center in place. It connects the draft (package edit) with the
// journal and the protocol of package save, for which a data center is a set of one file.
//
// If another program overwrites the open file itself, nothing can be saved any more, and the edits
// are written as a patch. If the journal fails, edits are refused, but saving still works, since the
// draft has all edits.
//
// A record of edits refers to nodes by numbers, which mean nothing without the file. So whoever lists
// or counts the edits of a journal, or makes a patch of them, makes them again on the file or on the
// copy of it that package save keeps ([DraftOf]).
//
// session.go is an edited data center, and snapshot.go how it is saved: read these first. unsaved.go
// makes the edits of a journal again, kept.go keeps them as a patch, counter.go counts them, and
// progress.go shows how far all that is.
package dcsave
