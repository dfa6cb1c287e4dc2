// Package nodes is the narrow waist of lorefs: every source becomes a [Tree] of
// directories and files, and everything that shows a source (the FUSE mount, the
// export, ls and cat, the tests) takes a Tree. It knows no format and no FUSE, and
// imports only the standard library.
//
// # Nodes are numbers
//
// A node is named by its [ID], not by its path. A tree of 43 million nodes can then be
// served straight from the addresses in its source, with nothing held for a node that
// nobody looks at. The ID is also the inode number in a mount, so it must be the same
// each time the same source is opened.
//
// # What is here
//
//   - [Tree], [Xattrer], [Linker], [Streamer], [WholeReader]: what a source implements (nodes.go)
//   - [Mutable], [Changing], [Writer], [XattrSetter]: what one that can be edited, or that
//     others edit, implements (mutable.go)
//   - [Caps]: which of the optional interfaces a tree can serve (caps.go)
//   - [NewMux]: several trees and small files side by side under one root (mux.go)
//   - [Unasked]: reads ahead of programs, whose errors nobody has to know (unasked.go)
//   - [Walk]: all entries below a directory, as an iterator (walk.go)
//
// # Glossary
//
// These words mean the same thing in all packages, code and messages.
//
// Sources and trees:
//
//   - source: the file or folder that the user names, in a game's format: a data center, a
//     CASC storage, a folder of world geometry, packet definitions with recordings
//   - kind: of a source, its format; of a node, whether it is a directory, a file or a link
//   - waist: this package, between the formats and everything that shows them
//   - tree: a source as nodes; view: one of several trees of one source, side by side in a mux
//   - bundle: a source that holds files and nothing else, and is shown as a folder of them
//   - node: a directory, file or link of a tree; ID or number: its name, and its inode number
//   - entry: a name in a directory, and the node it leads to
//   - content: the bytes of a file
//   - cursor: a place in a listing, from which it goes on
//   - label: the name that people know a thing by where it has no name in the source
//   - ordinal: the place of a node among its siblings of one name, as in Item.0002
//   - block: a part of a source that is decoded and cached as a whole
//
// Data centers:
//
//   - sheet: one table of a data center, an element below its root
//   - family: the sheets of one name
//   - run: the attributes or the children of a node, which a data center stores one behind
//     the other; several nodes may share a run
//
// Edits:
//
//   - edit: a change of a source that is made while it is mounted
//   - pending: made, and not yet saved
//   - draft: a source with its pending edits, before they are saved
//   - snapshot: a draft as it was when a save began; edits go on meanwhile
//   - rebase: to base a draft on the file that was just saved
//   - watcher: a function or type that a draft or a tree tells of changes
//   - session: one process editing one source, with its lock, draft and journal; not the
//     recording of a game's traffic, which texts for users call a recorded session
//   - editor: a program that a user edits files with
//   - journal: the file that keeps pending edits until they are saved; record: one entry of it;
//     base: the file that edits are made on, or the copy of it that is kept beside the journal
//   - save: to replace the source by a file with the edits; commit: the command that saves
//   - overlay: the tree that holds what files are in during editing, above the source's own
//   - scratch: a file that editors put beside the one they save; held in memory, never saved
//   - refused: of a text, that it could not become the content of its file; the file shows it
//     until it is mended
//   - rescue: to write edits to another file if the source's place was taken meanwhile
//   - patch: changes of a data center as text, which fits other versions of it; item: a part
//     of a patch that is applied, already there, or a conflict; rejects: the patch of those
//
// Words in the names of functions, types and fields, with the one meaning that a new name gives them:
//
//   - hold: to have a lock, or a text in memory that nothing else has
//   - pin: to have a file open, so that it is read as it was, whatever takes its place
//   - keep: to put something where it outlasts the process, such as a base, NAME.bak or a patch;
//     what only saves work is cached
//   - note: words for people beside something, as in a patch, a picture or a lock file
//   - place: where something lies among others, such as siblings or the files of an archive;
//     position: the line and the column of something in a text
//   - run: as a noun, that of a data center above
//   - ahead: before somebody asks for it
//   - found: of what was searched for
//
// # A read, a write and a save
//
// These are the functions that a call passes, from the kernel down. A read of an attribute in tree/:
//
//	fs      front.Read, node.Read          counts; knows a number and an offset
//	nodes   mux.ReadAt                     finds the view by the number
//	nodes/overlay  Tree.ReadAt             what somebody writes at the moment
//	dctree  edits.ReadAt, Tree.ReadAt      what was edited, else what the file holds
//	datacenter  Attribute.AppendText, File.view, File.inflateBlock
//	internal/cfb, internal/source          decrypt; refuse a file that has changed
//
// A write of a sheet in sheets/, when it is closed:
//
//	fs          handle.Flush
//	nodes/overlay   writer.Flush, Tree.commit   which file of the source that is
//	sheettree   edits.Put, putSheet        which sheet it is
//	datacenter/edit  Draft.ApplyPlan       lets nobody edit meanwhile
//	datacenter/sheets  Source.Plan         compares the text with the sheet: edits
//	datacenter/edit  Draft.apply           makes them, all or none
//	cmd/internal/save/dcsave  Session.log  the source is still what was edited
//	cmd/internal/save  Set.Log             keeps the base before the first edit, and their record
//	internal/journal  Journal.Append
//	cmd/internal/save/dcsave  counter.wake  how many edits there are is noted there a little later
//
// The draft then tells who watches it (sheettree edits.changed, dctree edits.changed, keytree
// Tree.changed), and
// the writer calls Session.Sync, which syncs the journal. Zones, squares and areas go by
// the same overlay and worldtree (edits.Put) to Set.Log and, as an edit may undo others, Set.Count.
//
// A patch that is applied, to a file or into a mount, from mounted.Apply on:
//
//	cmd/internal/kinds/dckind  ApplyPatches
//	datacenter/edit  Draft.ApplyPlan       lets nobody edit meanwhile
//	datacenter/patch  Applier.Plan         finds the nodes, and what is already there
//	datacenter/edit  Draft.apply           as above
//
// A save of a data center, by commit or at the end of a mount:
//
//	cmd/internal/mounted  Mount.Save, Mount.commit  gives memory to it, and tells how far it is and what came of it
//	cmd/internal/kinds  Source.Save, and dataCenterSession.Save in dckind
//	sheettree, dctree  Editable.RemoveHidden    at the end of a mount
//	cmd/internal/save/dcsave  Session.Save     whether there is something to save
//	cmd/internal/save  Set.Commit              the protocol, from top to bottom
//	  internal/replace  File.Write ...     its steps, a method each
//	  cmd/internal/save/dcsave  whole          writes a snapshot, reads back and compares
//	  datacenter/edit  Draft.Rebase        goes on with the new file
//
// Package nodes/nodetest has the conformance suite that every Tree has to pass, and trees in
// memory for tests. Package nodes/overlay has what editable trees share.
package nodes
