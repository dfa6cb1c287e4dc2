// Package cascdiff finds the files that differ between two builds, from their roots alone. No
// content is read, so files need not be local.
//
// A file is known by its number in roots that have numbers, else by its name, whose case does
// not count, else by the hash of its name. A root may have several files of one name or number,
// for several languages. They count as one, which differs if their content keys do, as a set.
//
// Roots without content keys have encoding keys. If these differ, the file was changed or only
// encoded anew.
//
// # Memory
//
// A table has the keys of both roots, in 48 bytes a file. If there are too many files for it,
// it has a part of them, by a hash of what they are known by, and the roots are read again for
// each of the others. So memory is bounded by Options.Records, besides what a root itself takes
// while it is read.
package cascdiff
