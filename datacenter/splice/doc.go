// Package splice makes a new data center from another one by a few edits of the inflated data; package
// streamedit makes these in the deflate stream. It serves package edit, and what saves files.
//
// No element changes its address, since an address counts elements
// of a segment: only offsets in bytes change. A run that one node refers to, which itself is in such
// a run, and so on up to the root, is changed in place. Of any other run a changed copy is added, for
// the nodes that change. What is added goes into the slack of a region's last segment, is inserted
// behind it, or becomes a new segment. So the index of the new file follows from that of the old one:
//
//   - All regions are placed anew from their counts.
//   - The entries of a node that is changed or added, and of all nodes above it, are counted anew. They
//     become 0 where the last referrer is gone.
//   - A mark for more than one referrer is set where one is added, but not taken away where one is
//     lost: of many referrers nobody knows how many there are. So some elements may be taken for
//     shared, or for used, that are not. The next pass over the file finds out.
//
// What nothing refers to any more stays, until it is 2 % of its region. Then the file has to be
// written as a whole. [ErrWhole] names the other reasons for that. Strings that no attribute has any
// more are not counted, since that would take a look at all attributes. All new ones lie behind each
// other, so that they are bounded by another reason: an inflated block may grow to 4 MiB.
//
// # The order in which to read it
//
//   - splicer.go, runs.go, strings.go: a Splicer, which is given nodes, and what becomes of runs and strings
//   - region.go, edits.go: what is added to a region, as edits of bytes
//   - successor.go: the index of the new file
//   - stream.go, background.go: how the new file is written
//   - check.go: how it is read back
//   - loader.go: what is read ahead meanwhile
package splice
