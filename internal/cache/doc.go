// Package cache is about what is kept so that it need not be found out again:
// decoded blocks, in memory while a source is open ([Blocks]), and indexes, on disk
// between runs ([Store]).
//
// A store gives back bytes that anybody may have damaged or exchanged, so what is
// kept in one is framed:
//
//	length of the kind   1
//	kind                      what this is, with the version of its form
//	of                  32    SHA-256 of all that it was made from
//	body
//	CRC-32C              4    of all before, little-endian
//
// An [ID] makes the frame and checks it. The checksum finds damage, not forgery: a
// body is read as carefully as any other file.
package cache
