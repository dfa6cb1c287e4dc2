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
// The conformance suite that every Tree has to pass is in nodes/nodetest, and what
// those that can be changed have in common in nodes/editing.
package nodes
