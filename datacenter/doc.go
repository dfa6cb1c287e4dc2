// Package datacenter reads TERA data centers, DataCenter_Final_*.dat: trees of
// nodes with attributes, like XML, encrypted and compressed.
//
// It follows Vezel's "Data Center Format" of novadrop and, where that is silent or
// differs from what writers do, the files that they wrote. All numbers are
// little-endian.
//
//	file      = AES-128-CFB( uncompressed_size:4 zlib_stream ) [bytes behind it]
//
// The zlib stream may have any header and ends in its Adler-32, of which the
// description says nothing. Inflated:
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
// What is in brackets is there in the 64-bit layout only; version 3 has no
// revision. A node's attributes and children are runs of elements in one
// segment, and many nodes may share a run: the file is a graph without cycles,
// of which a node is seen once for every path that leads to it.
//
// A file does not say whether it is of the 32-bit or the 64-bit layout. Open
// follows the chain of regions in both and takes the one that ends in the
// footer at the end of the data.
//
// # The order of siblings
//
// A run of children is ordered by their names' indexes; siblings of one name by
//
//  1. their key definitions: those without keys come first, the others in the order of
//     the lists of their attributes' names;
//  2. the values of their keys, one after another: none, then int, float, string, bool;
//     numbers by value, NaN first;
//  3. the place that they had, or were given.
//
// Names and strings are compared by their UTF-16 units. The first rule is this package's:
// novadrop compares the values of whichever node's keys comes first, which gives siblings of
// different definitions no order that all of them agree on. Official files have no such
// siblings. So Verify compares the values of neighbours of one definition, and only
// VerifyStrict the definitions of others: nothing in a file tells who wrote it.
//
// # How it is read
//
// Nothing is decoded ahead. The first pass inflates the file once and keeps an
// index: where inflating can begin again, about each MiB; where the segments
// lie; the names; and how many entries hang below each stored node. After that a
// MiB is inflated when something in it is asked for, and kept in the block cache
// that the caller brings. Nodes and attributes are read from those bytes, at
// their address.
//
// # How it is written
//
// Builder takes nodes bottom-up and keeps them in the form of the file, so that
// each run is stored once. Of a file that was edited, or is only written anew, the
// stored runs are moved to a Builder by a Rewriter, also once each; package edit says
// how one is edited. Files have the zlib header 78 9c
// and an Adler-32; segments have no slack.
//
// # What is not supported
//
// Strings end at their first NUL, as they do for the client: one with a NUL
// inside is cut there, which Verify reports, and cannot be written. A file that
// states more than 24 times its own size and 32 MiB, nests deeper than MaxDepth,
// or has more than MaxEntries entries is refused, however valid.
package datacenter
