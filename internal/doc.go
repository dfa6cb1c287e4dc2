// Package internal is the ground of lorefs: tools that know no format, no tree and no command.
//
// Bytes and numbers:
//
//	adler      the checksum of zlib streams
//	aes128     AES of many blocks at once
//	cfb        AES-CFB128 at any offset
//	cursor     numbers and strings, one after the other
//	inflate    DEFLATE that stops and resumes at any byte
//	jsonout    the JSON that commands print
//	jsonscan   JSON that is read without building values
//	readat     reads whose end is known
//	salsa20    Salsa20 with short keys
//	shown      text of others that is safe to show
//	tabular    tables as CSV, TSV and JSON
//	wtf8       UTF-16 that may be broken
//
// Files:
//
//	disk       what must not be lost, and a stand-in that fails
//	diskspace  room on a disk
//	filelock   one writer at a time
//	journal    records that outlast the process
//	links      symbolic links to what is written
//	origin     how the place of a source is spelled
//	replace    a new file for an old one, whole or not at all
//	shareopen  files that can be renamed while they are open
//	source     a file that may not change while it is read
//	userdir    the user's folders
//
// Work:
//
//	cache      what took long to compute
//	cores      cores for long work and for requests
//	flight     work done once for all who want it
//	remote     hosts, mirrors and object stores
//	testneeds  what tests need, and how much they try
package internal
