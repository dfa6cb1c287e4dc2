// Package datacenter reads TERA data centers, DataCenter_Final_*.dat: trees of
// nodes with attributes, like XML, encrypted and compressed.
//
// [Open] reads a file, and a [Builder] writes one. Package edit changes a file, package query
// finds nodes by expressions, package sheets shows a file as XML, package patch carries
// changes over to another version, and package verify checks a file against the format.
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
// A file does not say who wrote it, so verify.File only compares the values of neighbours of one
// definition. verify.Strict also compares the definitions.
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
// stored once. To write an existing file anew, edited or not, package rewrite moves its stored runs,
// each once. Package edit describes editing. Written files have the zlib header
// 78 9c and an Adler-32. Their segments have no slack. Package splice changes a few places of a file, and
// keeps the rest of it.
//
// # What is not supported
//
// A string ends at its first NUL, as it does for the client. A string with a NUL inside is cut
// there, which package verify reports, and cannot be written. A file is refused, however valid, if it
// states an inflated size of more than 32 MiB plus 24 times its own size, nests deeper than
// MaxDepth, or has more than MaxEntries entries.
//
// # The order in which to read it
//
//   - datacenter.go, types.go: a File, and what is said of it
//   - node.go, attribute.go, value.go, text.go: what is in it
//   - names.go, lookup.go, batch.go, shared.go, private.go: how that is found, and read in numbers
//   - builder.go: how one is made
//
// Package form, below this one, has the file as it is stored.
package datacenter
