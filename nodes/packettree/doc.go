// Package packettree shows a recorded session and a folder of packet definitions as a
// [nodes.Tree]:
//
//	packets/000123-S_CHAT.json      the packet: time, sender, name, fields
//	packets/000123-S_CHAT.bin       the packet as it is in the log
//	definitions/S_CHAT.3.json       the definition as JSON
//	maps/protocol.373824.json       names and numbers
//	summary.json                    for each name: packets, bytes, decoded, failed, unknown
//
// A packet's number is its place in the log, from 0 on. Package dissect finds its name and
// definition.
//
// Fields that are read by a guess are named in "guessed", see [protocol.Table.Guessed]. A
// packet without a definition, or that does not fit it, has "hex" in place of its fields,
// and in the latter case "error". The summary has the numbers of both. Its numbers are
// padded with spaces, so that its size is known before anything is decoded.
//
// Nothing is kept of a packet but the size of its JSON, in 4 bytes, once somebody has
// asked. A cache keeps what was read for a while.
//
// A definition or a map that can't be parsed is shown with its error. Definitions that are
// scripts, and the bytes of a packet whose place in the log is damaged, are not shown.
package packettree
