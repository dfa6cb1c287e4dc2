// Package blte reads and writes BLTE, the form in which CASC stores every file: a table of
// chunks, each of them plain, compressed or encrypted.
//
// [NewReader] reads a file, also from the middle, and [Append] makes one.
//
// It follows the page "CASC" of wowdev.wiki as of May 2016 and, where that is wrong or
// silent, what CascLib reads. Numbers of the table are big-endian.
//
//	file     = "BLTE" header_size:4 [ table ] chunk ×n
//	table    = flags:1 count:3 entry ×count           if header_size is not 0
//	entry    = encoded_size:4 decoded_size:4 md5:16 [ decoded_md5:16 ]
//	chunk    = mode:1 data                            encoded_size bytes
//
// header_size counts everything before the first chunk. If it is 0 there is no table, and
// one chunk runs to the end of the file: nothing states its decoded size or its MD5. Flags
// are 0x0f, or 0x10 for entries of 40 bytes, which end in an MD5 of the decoded chunk.
//
//	N  data as it is
//	Z  a zlib stream
//	4  LZ4 blocks, see below
//	F  a whole BLTE file inside
//	E  name_size:1 name:8 iv_size:1 iv:(4|8) cipher:1 data, which decrypts to a chunk
//
// Key lists print the name of an encryption key as a little-endian number. Cipher S is
// Salsa20 of 20 rounds with a 16-byte key, A is ARC4. The IV is padded with zeros to 8
// bytes, and the number of the chunk, little-endian, is XORed into its first four bytes.
//
// A file's encoding key is the MD5 of its header, or of the whole file if there is no
// table.
//
// # Reading
//
// A Reader decodes only the chunks that a read needs, each as a whole, and checks the MD5
// of a chunk before it decodes it. A chunk that decodes to another size than the table
// states is an error, and none of its bytes are returned. Plain chunks of more than 8 MiB
// are not held in memory. The first read checks the whole chunk and notes a checksum of
// every 32 KiB; later reads compare each piece with its checksum.
//
// # Not proven
//
// There was no real file with mode 4, mode F or cipher A to test with. Two layouts are
// described for mode 4, and both are read: size:8 (little-endian) and one block; or
// version:1 (1) size:8 (big-endian) shift:1 and blocks that decode to 1<<shift bytes each.
// The size shows which one it is. For cipher A one description says that the key is used
// alone, without IV; this package does so.
//
// The MD5s cover encrypted bytes, so they don't reveal a wrong key. Only the mode, the
// compression and the size of what was decrypted do, and one wrong key in 256 makes a plain
// chunk. A caller who knows the MD5 of the content can compare it: see Options.Decrypted.
//
// # Not supported
//
// Chunks that decode to more than MaxChunk bytes, and files nested more than four deep.
package blte
