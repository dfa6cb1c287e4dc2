// Package resource reads and writes TERA's resource containers (DownloadedResources.dat): files
// that a client downloads while it runs, such as the pictures of loading screens, in one file.
//
// It follows novadrop's description of the format, and an older reader of another hand, in
// TeraDataTools, agrees with it. All numbers are little-endian.
//
//	container = content ×n  directory  directory_size:4 magic:4 (0x01001fff)
//	directory = entry ×n, until directory_size is used up
//	entry     = size:4 offset:4 name (UTF-16, ends with a NUL)
//
//	0                                                       size-8
//	├ content ┼ content ┼ ... ┼ entry ┼ entry ┼ ... ┼ directory_size ┼ magic ┤
//	└─────────────────────────┴─ XOR ─┴─ XOR, as one ┴──── plain ────────────┘
//	   each by itself
//
// An offset is one in the file. The directory as a whole, and each content by itself, are combined
// with a key of 32 bytes by exclusive or, which begins anew with each of them. The key has never
// changed. There is no count, no checksum and no compression.
//
// A content without bytes has any offset up to the beginning of the directory. Contents may
// overlap, and bytes may belong to none; [Verify] tells of both if it is strict. [Write] puts the
// contents one behind the other, in the order of the directory, as novadrop does.
//
// # Names
//
// A name is one of a file in one folder: known programs make paths of names as they are, so one
// such as ..\x would leave that folder. A container with such a name is refused, and so is one that
// has a name twice; see [CheckName]. Names that differ only in case are two.
//
// # Not supported
//
// Encrypted containers, of which the magic tells, since none is known; containers whose sizes,
// together, or offsets do not fit 31 bits, which other programs take for negative; directories of
// more than 64 MiB or 1,048,576 files.
package resource
