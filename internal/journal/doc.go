// Package journal keeps records in a file such that what was appended outlasts the
// process, and what was synced outlasts a power cut.
//
//	header   0   8  magic "lorefs-j"
//	         8   4  version of the format, 1
//	        12   4  mark: a random number, not 0, other in each journal
//	        16   4  n, at most 1 MiB
//	        20   4  CRC-32C of the 20 bytes above and of the n bytes below
//	        24   n  what the caller says the journal is about; opaque
//	record   0   4  mark
//	         4   4  n, 1 to 64 MiB
//	         8   4  CRC-32C of mark, n, the record's offset in the file (8 bytes)
//	                and payload
//	        12   n  payload; opaque
//	record   ...
//
// All numbers are little-endian. CRC-32C is the Castagnoli one.
//
// A file that ends within a record has a torn tail: the process or the machine
// died while the record was written, so nobody was told that it is kept. Such
// a tail ends the records. A record that is not whole although another one
// follows is something else: what was kept is damaged, and that is an error. The
// mark is what tells them apart: it is searched for behind the first record that
// is not whole. As it differs between journals, and the checksum covers the
// offset, nothing that a payload holds is taken for a record. A last record that
// is damaged cannot be told from a torn one; nor can several in a row.
//
// Records that were appended but not synced may reach the disk in any order, so
// that after a power cut damage may mean only that.
//
// A journal is made whole beside its place and moved there, which fails if
// something is there already; a crash in that moment can leave a file
// ".NAME.RANDOM.tmp" that holds no records. One process may write to a journal at
// a time; the journal does not see to that (see package filelock). A file that
// others own or may write to is refused with [userdir.ErrUntrusted], which says
// nothing of the folders above it: they are best those of package userdir.
//
// Not supported are compression, removing single records, and reading records
// that lie behind damage. On Windows, folders cannot be synced, and owners and
// modes are not looked at. Where files have only one name, two processes that
// make the same journal at once may both succeed.
package journal
