// Package inflate decodes raw DEFLATE data (RFC 1951) and can stop and resume at any output
// byte.
//
// It exists because no inflater available to Go can save its state, and a large stream can
// be read at random only from saved states. A state is a [Point] of some thirty bytes. The
// 32 KiB of output before it, which DEFLATE matches refer to, stay with the caller, and so
// does every other byte of output: [Decoder.Decode] writes into the caller's buffer and
// takes the history from there.
//
// # Format
//
// All three block types are read: stored (RFC 1951 section 3.2.4), fixed Huffman codes
// (3.2.6) and dynamic Huffman codes (3.2.7). It refuses what compress/flate refuses. In
// particular a code must be complete, with two exceptions: a single symbol of length 1, and
// no symbol at all, which is an error only when a symbol is needed. As in zlib, and unlike
// in compress/flate, a block without a code for end-of-block is refused at its header;
// compress/flate refuses it after some output.
//
// # Points
//
// A dynamic block begins with the description of its codes, so resuming within a block
// needs two places: the header, to build the codes again, and the next symbol. A match may
// be cut by the end of the output buffer; its rest belongs to the Point because its symbol
// lies before In.
//
//	deflate   ...|header|symbol|symbol|match of 40|symbol|...
//	             ^                                ^
//	             Header                           In
//
//	inflated  ...|a|b|c c c c c c c c:c c c ... c|d|...
//	                                 ^
//	                                 Out     Len = 32, Dist = 1
//
// Between two blocks nothing has to be built again, and Header equals In. Behind the last
// byte of output, In is the final block's end-of-block symbol (or the end of the stored
// bytes), so that resuming there finds the end again.
//
// # Speed
//
// Where there is ample input and room, symbols are decoded by a loop without checks for either: on
// amd64 by hotLoop, in assembly, if the processor has BMI2, and elsewhere by decodePortable. Both make
// the same output and the same errors. Without hotLoop the first listing of a data center takes 1.1 times the CPU
// time, and so does a save after one edit; without it and the assembly of packages adler and aes128, both take 1.25
// times. All other symbols are read by one loop, which nobody waits for.
//
// # Not supported
//
// The zlib (RFC 1950) and gzip (RFC 1952) framing, their checksums, and preset dictionaries
// are left to the caller.
package inflate
