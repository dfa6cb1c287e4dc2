// Package streamedit edits data inside a deflate stream (RFC 1951). It keeps the bits of all blocks
// that the edits do not reach.
//
//	inflated   |---A---|---B---|---C---|---D---|
//	edit                  ^^
//	deflate    [a     ][b       ][c   ][d      ]
//	new        [a     ][b'        ][c'  ][d      ]
//
// A block is encoded anew if an edit changes its data, or if a match in it copies what was edited
// or would have to reach over an edit that changes a length. Such matches begin at most 32 KiB
// behind the edit. All other blocks keep their bits, which move by what is added or removed before
// them.
//
// # New blocks
//
// A block consists of tokens: literals and matches (RFC 1951, 3.2.5). A new block keeps those that
// are still right. Where a token is not, its bytes become matches at the distance at which they
// lie now, or literals. What is inserted is searched for matches if it is long.
//
//	old block   |header|token|token|token|token|token|...|end|
//	new block   |header|token|new|new|token|token|token|...|end|
//
// If there are few new tokens and all have codes in the block, it keeps its codes, and so the bits of
// all other tokens. Only tokens that may be wrong are read: those up to 32 KiB behind the last edit.
// Otherwise all tokens get new Huffman codes (3.2.7) or, in a short block, the fixed ones (3.2.6). A new
// code has two symbols at least, so that it is complete, as all inflaters want it. A stored block stays
// stored, with its new data. The last block stays the last one.
//
// # Moved blocks
//
//	stored block   |header, 3 bits|zeros up to a byte boundary|length, 32 bits|bytes ...
//
// A stored block (3.2.4) does not move by bits: the first one behind an edit gets other zeros, and
// what follows it moves by whole bytes.
//
// Checkpoints, from which inflating can be resumed, move along. One in a block that is encoded anew
// gets the place in the new block where the same data begins.
//
// # Not supported
//
// The zlib framing and its checksum are left to the caller. Blocks are not joined, so a stream that
// is edited often compresses a little worse than one that is written as a whole.
package streamedit
