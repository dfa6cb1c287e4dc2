// Package treecopy copies a [nodes.Tree], or a part of one, to the disk, on all
// cores.
//
// A file that can't be read is told of and left out; the others are copied. What is
// there already is never written over, unless that is asked for: two names that
// differ only in case become one file on some systems, and the second one must not
// silently replace the first.
//
// Nothing is written outside the folder, whatever names the tree has ([os.Root]).
package treecopy
