// Package treecopy copies a [nodes.Tree], or a part of one, to the disk, on all
// cores, or files that are no tree.
//
// A file that can't be read is told of and left out; the others are copied. What is
// there already is never written over, unless that is asked for: two names that
// differ only in case become one file on some systems, and the second one must not
// silently replace the first. If it is asked for, the new file is written beside the old
// one and takes its name when it is whole; one that was a link is a file then.
//
// When the disk is full, or so little is free that others would suffer, it ends with what
// it has, once.
//
// Nothing is written outside the folder, whatever names the tree has ([os.Root]), nor
// through a link that another user may have planted (package links).
package treecopy
