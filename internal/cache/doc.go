// Package cache keeps data that would take long to compute again: decoded blocks, in memory
// while a source is open ([Blocks]), and indexes, on disk between runs ([Store]).
//
// Anybody may have damaged or exchanged the bytes in a store, so data in one is framed:
//
//	length of the kind   1
//	kind                      what this is, with the version of its form
//	of                  32    SHA-256 of all that it was made from
//	body
//	CRC-32C              4    of all before, little-endian
//
// An [ID] makes the frame and checks it. The checksum finds damage, not forgery: read a
// body as carefully as any other file.
package cache
