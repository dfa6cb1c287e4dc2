// Package journal keeps records in a file such that what was appended outlasts the
// process, and what was synced outlasts a power cut, and is not gone without a word if
// the file is damaged later.
//
//	header   0   8  magic "lorefs-j"
//	         8   4  version of the format, 2
//	        12   4  mark: a random number, not 0, other in each journal
//	        16   4  n, at most 1 MiB
//	        20   4  features that a reader has to know, one bit each; none so far
//	        24   4  CRC-32C of the 24 bytes above and of the n bytes below
//	        28   n  what the caller says the journal is about; opaque
//	                zeros, up to a multiple of 4096
//	slot     0   8  the promise: up to which offset all was whole when it was synced
//	         8   4  CRC-32C of mark and promise
//	        12      zeros, up to 4096 bytes
//	slot     the same once more
//	record   0   4  mark
//	         4   4  n, 1 to 64 MiB
//	         8   4  CRC-32C of mark, n, the record's offset in the file (8 bytes)
//	                and payload
//	        12   n  payload; opaque
//	record   ...
//
// All numbers are little-endian. CRC-32C is the Castagnoli one.
//
// In version 1, the header ends with the CRC-32C, of 20 bytes and n, at 20 and what the
// caller says at 24; the records follow at once. Such a journal is read, but nothing is
// added to it: Renew makes one of version 2 of it. A reader refuses versions and features
// that it does not know, with an *UnsupportedError. What payloads may hold is for
// callers to say, who have kinds of their own (package save).
//
// # Torn or damaged
//
// A file that ends within a record that nobody had synced has a torn tail: the process
// or the machine died while the record was written. Such a tail ends the records. A
// record that is not whole although it was synced once, or although another one follows,
// is something else: what was kept is damaged, and that is an error.
//
// What was synced, the slots tell. A sync writes the length of the journal into one of
// them, behind the records and ahead of the fsync that makes both last, so that it costs
// no other fsync. It takes the slot with the smaller promise in turn, and so never the one
// that counts; it writes to the other one only when that fsync has succeeded. Each slot
// has a block of the disk for itself: one that is torn harms neither the other one, nor a
// record, nor the header.
//
// When the power goes during that fsync, the slot and the pages of the records may have
// reached the disk in any order, or in part:
//
//   - Records, but not the slot: the other slot keeps the promise before. What is whole
//     behind it is given, and what is not is a torn tail.
//   - The slot, but not all records: it promises more than is whole. Nobody was told
//     that these were synced, but that can't be told from records that were lost later:
//     it is damage. What the sync before made last lies ahead of it.
//   - A part of the slot: its checksum fails, and the other slot keeps the promise
//     before. As nobody knows what it promised, a tail that is not whole is damage then,
//     and not torn. If all is whole to the end, nothing is wrong.
//
// Both slots are never written to within one fsync, so if neither is whole that is
// damage as well. So one damaged place, whatever its length, is found if it takes a
// record that was synced: it leaves the slot that promises the record, or it takes the
// slot as well, and then nothing that is not whole counts as torn.
//
// The mark tells where another record follows: it is searched for behind the first record
// that is not whole. As it differs between journals, and the checksum covers the
// offset, nothing that a payload holds is taken for a record. Records that were appended
// but not synced may reach the disk in any order, so that after a power cut such damage
// may mean only that. Of version 1, a damaged last record, or several in a row, can't be
// told from a torn tail.
//
// # Files
//
// A journal is made whole beside its place and moved there, which fails if
// something is there already; a crash in that moment, or while it is renewed, can leave a
// file ".NAME.RANDOM.tmp" that nobody needs. One process may write to a journal at
// a time; the journal does not see to that (see package filelock). A file that
// others own or may write to is refused with [userdir.ErrUntrusted], which says
// nothing of the folders above it: they are best those of package userdir.
//
// Not supported are compression, removing single records, and reading records
// that lie behind damage. On Windows, folders cannot be synced, and owners and
// modes are not looked at. Where files have only one name, two processes that
// make the same journal at once may both succeed.
package journal
