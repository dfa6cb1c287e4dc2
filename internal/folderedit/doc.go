// Package folderedit edits the files of a folder in their places, so that nothing
// is lost: it keeps the journal, and saves each file by itself. What is in the files,
// and what an edit is, it does not know.
//
// Lock and journal are those of package pending. The journal's header says which
// folder it belongs to, and its records are, with what they say about one file each:
//
//	'F' {json}                the file (name, size, SHA-256) to which the edits behind belong
//	'E' length:2 name record  an edit
//	'S' {json}                the file that is about to take its place
//	'D' {json}                all edits so far are saved
//
// A file is saved by package replace: the new one is written beside it, read back
// by the caller, and renamed over it; if it is a link, over what that leads to. 'S' is written before that, so that after a
// crash each file is one of three things: what 'F' says, and its edits are made
// again; or what 'S' says, and they are saved; or somebody else has changed it, and
// nothing is made again, nor lost, until its owner decides. When all files are
// saved, the journal goes.
//
// If a file was replaced by somebody else, what was edited is rescued to a file of its
// own, of which there is an 'S' as well: it may be put in the file's place. The other
// files are saved all the same.
package folderedit
