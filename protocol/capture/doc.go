// Package capture reads recorded sessions: the packets between a client and a server,
// decrypted, each with its header. A [Log] keeps 8 bytes for each packet, and reads the
// packet itself when it is asked for.
//
// [Open] reads a session, and [NewWriter] writes one.
//
// # TeraConnectionLog, .TeraLog
//
// This follows TeraDamageMeter's specification. A sequence of blocks, little endian:
//
//	+------+------+-------------------+
//	| type | size | payload, size - 2 |
//	|  u8  | u16  |                   |
//	+------+------+-------------------+
//
//	1  "TeraConnectionLog", the first block
//	6  region, or the client revision: ASCII
//	2  start: ends the header
//	3  time of the blocks behind it: milliseconds since 2015-01-01 UTC, in as many
//	   bytes as it takes
//	4  packet of the client; size and payload together are the packet
//	5  packet of the server
//
// Other types are skipped. In old logs, where the first C_CHECK_VERSION has 30 bytes behind
// its code, each packet has two bytes too many at its end, which are dropped.
//
// # Hex lines
//
// Text with a packet in each line: the last word is the packet in hex digits, or the last
// words are, with two digits each. Before it may stand, in any order, the direction (C->S,
// S->C, C, S, client, server), a name or NAME.VERSION, and the time (Unix milliseconds or
// RFC 3339). Or the line is a JSON object with hex or data, and with name, version, time or
// timestamp, direction or from. Empty lines and lines that begin with # are skipped. If
// only the last line has no packet, the recording was cut off there; the packets before it
// are good, as in the other formats. Any other such line is an error.
//
// # Times
//
// In every format a time is unknown if it is 0 in Unix milliseconds, negative, or after the
// year 9999. A [Writer] refuses to write a time that would not be read back.
//
// # Not supported
//
// Captures of encrypted traffic, such as pcap.
package capture
