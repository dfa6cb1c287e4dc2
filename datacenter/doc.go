// Package datacenter reads TERA data centers, DataCenter_Final_*.dat: trees of
// nodes with attributes, like XML, encrypted and compressed.
//
// [Open] reads a file, and a [Builder] writes one. Package edit changes a file, package query
// finds nodes by expressions, package sheets shows a file as XML, and package patch carries
// changes over to another version.
//
// It follows Vezel's "Data Center Format" of novadrop. Where that description is silent, or
// real files contradict it, this package follows the files. All numbers are little-endian.
//
//	file      = AES-128-CFB( uncompressed_size:4 zlib_stream ) [bytes behind it]
//
// The zlib stream may have any header and ends with an Adler-32, which the description does
// not mention. The inflated data is:
//
//	version:4 timestamp:8 revision:4 unknown:2 unknown:2 unknown:4 ×3   header
//	keys        simple region     name_index:2 ×4
//	attributes  segmented region  name_index:2 type:2bit extended:14bit value:4 [padding:4]
//	nodes       segmented region  name_index:2 key_flags:4bit key_index:12bit
//	                              attribute_count:2 child_count:2
//	                              attribute_address:4 [padding:4] child_address:4 [padding:4]
//	values      string table with 1,024 buckets
//	names       string table with 512 buckets
//	marker:4                                                            footer
//
//	simple region     = count:4 element ×count
//	segmented region  = count:4 ( full:4 used:4 element ×full ) ×count
//	string table      = segmented region of UTF-16 units
//	                    simple region ×buckets of hash:4 length:4 index:4 address:4
//	                    count+1:4 address ×count
//	address           = segment:2 element:2
//
// Only the 64-bit layout has the padding in brackets. Version 3 has no revision. A node's
// attributes and its children are runs of elements in one segment. Many nodes may share a run,
// so the file is a graph without cycles. In the tree, a node appears once for every path that
// leads to it.
//
// A file does not say whether it has the 32-bit or the 64-bit layout. Open follows the chain
// of regions in both and takes the layout whose chain ends in the footer at the end of the
// data.
//
// # The order of siblings
//
// A run of children is ordered by the indexes of their names. Siblings of one name are
// ordered by
//
//  1. their key definitions: siblings without keys come first, then the others in the
//     order of the lists of their keys' names;
//  2. the values of their keys, one after another: none, then int, float, string, bool;
//     numbers by value, NaN first;
//  3. the place that they had, or were given.
//
// Names and strings are compared by their UTF-16 units. Only this package has the first
// rule. novadrop compares two siblings by the keys of whichever comes first, which gives
// siblings of different definitions no consistent order. Official files have no such siblings.
// A file does not say who wrote it, so Verify only compares the values of neighbours of one
// definition. VerifyStrict also compares the definitions.
//
// # How it is read
//
// An open file keeps no decoded nodes or attributes. The first pass inflates the file once and
// keeps an index: the places where inflating can begin again, about one for each MiB; the
// places of the segments; the names; and the number of entries in the subtree of each stored
// node. After that a block of a MiB is inflated when something in it is read, and kept in the
// caller's block cache. Nodes and attributes are read from these blocks, at their address.
//
// # How it is written
//
// A Builder takes nodes bottom-up and keeps them in the form of the file, so that each run is
// stored once. To write an existing file anew, edited or not, a Rewriter moves its stored runs
// to a Builder, each once. Package edit describes editing. Written files have the zlib header
// 78 9c and an Adler-32. Their segments have no slack.
//
// # How it is spliced
//
// A Splicer makes a new file from another one by a few edits of the inflated data; package splice
// makes these in the deflate stream. No element changes its address, since an address counts elements
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
// # What is not supported
//
// A string ends at its first NUL, as it does for the client. A string with a NUL inside is cut
// there, which Verify reports, and cannot be written. A file is refused, however valid, if it
// states an inflated size of more than 32 MiB plus 24 times its own size, nests deeper than
// MaxDepth, or has more than MaxEntries entries.
package datacenter
