// Package packettree shows a recorded session and a folder of packet definitions as a
// [nodes.Tree]:
//
//	packets/000123-S_CHAT.json      the packet: time, sender, name, fields
//	packets/000123-S_CHAT.bin       the packet as it is in the log
//	packets.jsonl                   all packets, each as the line that its file holds
//	by-name/S_CHAT.jsonl            those of one name
//	definitions/S_CHAT.3.json       the definition as JSON
//	maps/protocol.373824.json       names and numbers
//	summary.json                    numbers of packets and bytes, and rates: by sender, name and time
//	session.svg                     a drawing of the packets of each name over time
//
// A packet's number is its place in the log, from 0 on. Package dissect finds its name and
// definition, and makes its line.
//
// Fields that are read by a guess are named in "guessed", see [protocol.Table.Guessed]. A
// packet without a definition, or that does not fit it, has "hex" in place of its fields,
// and in the latter case "error". The summary has the numbers of both.
//
// # Sizes
//
// Nothing is kept of a packet but the size of its JSON, in 4 bytes, once somebody has
// asked. A cache keeps what was read for a while. Listings leave out the sizes that nobody
// knows yet, because all packets would have to be decoded for them.
//
// The sizes of the files of lines and of the summary are found by decoding every packet once,
// on all cores. Then it is also known where each 64th line begins, and 4 bytes a packet say
// which ones have a name. The drawing always has the same size. It is made when it is read, of the
// times of the packets, which are not decoded for it.
//
// # Growth
//
// When the tree is watched, it looks four times a second whether packets were appended to the
// log. New packets come behind the others, and new names in by-name behind the others, so no
// name, number or line ever changes. The names of packets have as many digits as the numbers
// had when the tree was made; larger numbers have more.
//
// # What is not shown
//
// A definition or a map that can't be parsed is shown with its error. Definitions that are
// scripts, and the bytes of a packet whose place in the log is damaged, are not shown.
package packettree
