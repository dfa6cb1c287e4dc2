// Package edit changes data centers, and makes new files of them.
//
// [NewDraft] begins with a file, [Draft.Apply] makes edits, and [Snapshot.Write] writes the
// new file.
//
// A [Draft] is a file and its changes. Only edited nodes and their ancestors are objects;
// all other nodes are read from the file. Where several parents share a run, an edit under
// one parent copies the run. A [Number] identifies each node and attribute, from the file
// or new. Each edit makes a record (record.go) that can be replayed on the same file. To
// save, a [Snapshot] of the Draft is written, with new names behind the existing ones. Then
// the new file is read back and compared with the Snapshot.
//
//	draft.go, reach.go        a Draft, and how it makes its nodes
//	edit.go, nodes.go         applying and undoing edits
//	rank.go, order.go         the order of siblings
//	names.go, pathtypes.go    names, key definitions, and types of nodes on the same path
//	read.go, watch.go         reading a Draft, and watching its edits
//	record.go                 the record of an edit for the journal
//	reader.go                 reading a Snapshot
//	snapshot.go, write.go     a Draft as it was at one moment, and writing it to a file
//	compare.go                comparing the new file with the Snapshot
//	rebase.go, labels.go      continuing with the new file
//	changes.go, survey.go     listing the changes of a Draft
//	alike.go                  siblings that only look changed
//	revert.go, restore.go     taking changes back, and bringing back what was removed
//	again.go                  making removed nodes again
//	sheetchanges.go           which sheets changed, and when
//
// The package knows the form of a file only through the exports of package datacenter: a
// node of a new file is a [form.Node], which only a [rewrite.Rewriter]
// makes.
package edit
