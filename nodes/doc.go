// Package nodes is the narrow waist of lorefs: every source is turned into a
// [Tree] of directories and files, and everything that shows a source (the FUSE
// mount, the export, ls and cat, the tests) takes a Tree. It knows no format and
// no FUSE, and needs nothing but the standard library.
//
// # Nodes are numbers
//
// A node is named by its [ID], not by its path: a tree of 43 million nodes can
// then be served straight from its source's own addresses, with nothing held
// for a node that nobody looks at. The ID is the inode number of a mount too, so
// it has to be the same each time the same source is opened.
//
// # What is here
//
//   - [Tree], [Xattrer], [Linker]: what a source implements (nodes.go)
//   - [Caps]: which of the optional interfaces a tree can serve (caps.go)
//   - [Mem]: a tree in memory, for control files and tests (mem.go)
//   - [NewMux]: several trees side by side under one root (mux.go)
//   - [Walk]: all entries below a directory, as an iterator (walk.go)
//   - [FS]: a tree as an [io/fs.FS], for [os.CopyFS], [testing/fstest] and all
//     else that speaks io/fs (iofs.go)
//
// # A read, a write and a save
//
// Where to set the breakpoints, from the kernel down. A read of an attribute in tree/:
//
//	fs      front.Read, node.Read          counts; knows a number and an offset
//	nodes   mux.ReadAt                     finds the view by the number
//	dctree  Editable.ReadAt, Tree.ReadAt   what was edited, else what the file holds
//	datacenter  Attribute.AppendText, File.view, File.inflateBlock
//	internal/cfb, internal/source          decrypt; refuse a file that has changed
//
// A write of a sheet in sheets/, when it is closed:
//
//	fs          handle.Flush
//	nodes/editing   Writer.Flush           has the file commit its text
//	sheettree   Editable.commit, apply     which sheet it is
//	dctree      Editable.Change            lets nobody edit meanwhile
//	datacenter/sheets/plan  Make           compares the text with the sheet: edits
//	datacenter  Draft.Apply                makes them, all or none
//	internal/save/dcsave  Session.log      the source is still what was edited
//	internal/save     Set.Log              has the journal keep their record
//	internal/journal  Journal.Append
//
// The Writer then calls Session.Sync, which syncs the journal. Zones, squares and areas go
// by nodes/overlay (Tree.commit) and worldtree (edits.Put) to Set.Log.
//
// A save of a data center, by commit or at the end of a mount:
//
//	cmd/lorefs  mounting.saveBy, dataCenterEditor.save
//	sheettree, dctree  Editable.RemoveHidden   at the end of a mount
//	internal/save/dcsave  Session.Save     whether there is something to save
//	internal/save  Set.Commit              the protocol, from top to bottom
//	  internal/replace  File.Write ...     its steps, a method each
//	  internal/save/dcsave  whole          writes a snapshot, reads back and compares
//	  datacenter  Draft.Rebase             goes on with the new file
//
// The conformance suite that every Tree has to pass is in nodes/nodetest, and what
// those that can be changed have in common in nodes/editing and nodes/overlay.
package nodes
