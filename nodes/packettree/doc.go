// Package packettree shows a recorded session and a folder of packet definitions
// as a [nodes.Tree]:
//
//	packets/000123-S_CHAT.json      the packet: time, sender, name, fields
//	packets/000123-S_CHAT.bin       the packet as it is in the log
//	definitions/S_CHAT.3.json       what the definition says
//	maps/protocol.373824.json       names and numbers
//	summary.json                    for each name: packets, bytes, decoded, failed, unknown
//
// A packet's number is its place in the log, from 0 on. Package dissect says what it
// is called, and which definition it is read by.
//
// Fields that are read by a guess are named in "guessed", see [protocol.Table.Guessed].
// A packet without a definition, or that its definition does not fit, has "hex" in
// place of its fields, and "error" if it does not fit. The number of both is in the
// summary, whose numbers are filled up with spaces: so its size is known before
// anything is decoded.
//
// Of a packet nothing is kept but the size of its JSON, once somebody has asked:
// 4 bytes. What is read is kept in a cache for a while.
//
// A definition or a map that cannot be parsed is shown with its error. Not shown
// are definitions that are scripts, and the bytes of a packet whose place in the
// log is damaged.
package packettree
