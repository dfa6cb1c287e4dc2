// Package edit changes data centers, and makes new files of them.
//
// A Draft is a file and what differs from it. Only edited nodes and those above
// them are objects; a run that several parents share is copied for the one that is
// edited. Entries are told apart by a Number: the file's, or a new one. Each edit
// gives a record (record.go) that can be replayed on the same file. To save,
// the draft is written with the new names behind those that exist, and compared with
// what was written, read back by the reader.
//
//	draft.go, reach.go        a Draft, and how its nodes come about
//	edit.go, nodes.go         what edits do, and how they are undone
//	rank.go, order.go         where a node is among its siblings
//	names.go, pathtypes.go    names, key definitions, and what others on a path have
//	read.go, watch.go         what readers and watchers are told
//	record.go                 what the journal holds of an edit
//	snapshot.go, write.go     a Draft as it was at one moment, and as a new file
//	compare.go, pairs.go      whether that file is what was to be written
//	rebase.go, labels.go      going on with that file
//	changes.go                in what a Draft differs from its file
//	sheetchanges.go           which sheets changed, and when
//
// It knows no more of the form of a file than what package datacenter exports: a node
// of a new file is a [datacenter.StoredNode], which only a [datacenter.Rewriter] makes.
package edit
