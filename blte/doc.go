// Package blte reads and writes BLTE, the form in which CASC keeps the content
// of every file: a table of chunks, each of which is stored plain, compressed or
// encrypted.
//
// It follows the page "CASC" of wowdev.wiki as of May 2016 and, where that is wrong
// or silent, what CascLib reads. Numbers of the table are big-endian.
//
//	file     = "BLTE" header_size:4 [ table ] chunk ×n
//	table    = flags:1 count:3 entry ×count           if header_size is not 0
//	entry    = encoded_size:4 decoded_size:4 md5:16 [ decoded_md5:16 ]
//	chunk    = mode:1 data                            encoded_size bytes
//
// header_size counts everything before the first chunk. If it is 0 there is no
// table, and one chunk runs to the end of the file: nothing states its decoded
// size, nor its MD5. Flags are 0x0f, or 0x10 for entries of 40 bytes, which end in
// an MD5 of the decoded chunk.
//
//	N  data as it is
//	Z  a zlib stream
//	4  LZ4 blocks, see below
//	F  a whole BLTE file inside
//	E  name_size:1 name:8 iv_size:1 iv:(4|8) cipher:1 data, which decrypts to a chunk
//
// The name of an encryption key, read as a little-endian number, is what key
// lists print. Cipher S is Salsa20 of 20 rounds with a 16-byte key, A is ARC4. The
// IV is padded with zeros to 8 bytes, and the number of the chunk, little-endian,
// is XORed into its first four.
//
// A file's encoding key is the MD5 of its header, or of the whole file if there is
// no table.
//
// # How it is read
//
// A Reader decodes only the chunks that a read needs, each as a whole, and checks
// the MD5 of each before it decodes it. A chunk that decodes to another size than
// the table states is refused: no byte of it is handed out. Plain chunks of more
// than 8 MiB are not held: they are checked when they are first read, which leaves a
// sum of each 32 KiB, and then read where they are, each piece compared with its sum.
//
// # What is not proven
//
// No real file with the modes 4 or F, or the cipher A, was there to test with.
// For mode 4 two layouts are described, and both are read: size:8 (little-endian)
// and one block; or version:1 (1) size:8 (big-endian) shift:1 and blocks that
// decode to 1<<shift bytes each. The size tells which it is. For cipher A one
// description says that the key is used alone, without IV; it is followed.
//
// What decrypts with a wrong key is noticed by its mode, its compression and its
// size only: the MD5s are of what is encrypted. One of 256 wrong keys makes a plain
// chunk of it. Who knows the MD5 of the content compares it: see Options.Decrypted.
//
// # What is not supported
//
// A chunk that decodes to more than MaxChunk bytes, and files nested deeper than
// four times.
package blte
