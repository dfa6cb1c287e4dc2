// Package folderedit edits the files of a folder in their places, so that nothing
// is lost: it keeps the lock and the journal, and saves one file after the other.
// What is in the files, and what an edit is, it does not know.
//
// From the first edit on there is a journal (package journal) in the user's state
// folder, named after the path of the folder. Its header says which folder that is,
// and its records are, with what they say about one file each:
//
//	'F' {json}                the file (name, size, SHA-256) to which edits belong
//	'E' length:2 name record  an edit
//	'S' {json}                the file that is about to take its place
//	'D' {json}                all edits so far are saved
//
// A file is saved by package replace: the new one is written beside it, read back
// by the caller, and renamed over it. 'S' is written before that, so that after a
// crash each file is one of three things: what 'F' says, and its edits are made
// again; or what 'S' says, and they are saved; or somebody else has changed it, and
// nothing is made again, nor lost, until its owner decides. When all files are
// saved, the journal goes.
//
// One session may have a folder at a time. It holds a lock in the state folder and,
// for other users, one on the folder itself, where folders can be locked.
//
// Not supported is the salvage of a damaged journal: it is refused.
package folderedit
