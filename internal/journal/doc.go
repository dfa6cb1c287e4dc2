// Package journal keeps records in a file. An appended record outlasts the process, a
// synced one outlasts a power cut, and later damage to the file is noticed.
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
// In version 1, the header ends with the CRC-32C, of 20 bytes and n, at 20 and the caller's
// bytes at 24; the records follow at once. Such a journal is read, but nothing is added to
// it: Renew makes one of version 2 of it. A reader refuses unknown versions and features
// with an *UnsupportedError. The content of payloads is the caller's.
//
// # Torn or damaged
//
// If the file ends within a record that was never synced, it has a torn tail: the process
// or the machine died while the record was written. Such a tail ends the records. But if a
// record is not whole although it was synced, or although another one follows, kept data is
// damaged, and that is an error.
//
// The slots say what was synced. A sync writes the length of the journal into one of them,
// behind the records and before the fsync that makes both durable, so that it needs no
// second fsync. It takes the slot with the smaller promise, and so never the one that
// counts. It writes to the other one only when that fsync has succeeded. Each slot has a
// block of the disk for itself: a torn slot harms neither the other one, nor a record, nor
// the header.
//
// If the power fails during that fsync, the slot and the pages of the records may have
// reached the disk in any order, or in part:
//
//   - Records, but not the slot: the other slot has the earlier promise. Whole records behind it are
//     returned, and the rest is a torn tail.
//   - The slot, but not all records: it promises more than is whole. Nobody was told that these records
//     were synced, but they can't be distinguished from records that were lost later: it is damage.
//     Everything up to the earlier sync lies before it.
//   - A part of the slot: its checksum fails, and the other slot has the earlier promise. Since the torn
//     slot may have promised anything, a tail that is not whole counts as damage then. If everything is
//     whole to the end, nothing is wrong.
//
// No fsync ever covers writes to both slots, so if neither is whole that is damage as well.
// So a single damaged place, of whatever length, is noticed if it hits a synced record:
// either it spares the slot that promises the record, or it hits the slot as well, and then
// nothing that is not whole counts as torn.
//
// The mark shows where another record follows: it is searched for behind the first record
// that is not whole. It differs between journals, and the checksum covers the offset, so
// nothing in a payload is mistaken for a record. Records that were appended but not synced
// may reach the disk in any order, so after a power cut such damage may mean only that. In
// version 1, damage to the last record, or to several in a row at the end, can't be
// distinguished from a torn tail.
//
// # Files
//
// A journal is made whole beside its place and moved there, which fails if something is
// there already. A crash in that moment, or while it is renewed, can leave a file
// ".NAME.RANDOM.tmp" that nobody needs. Only one process may write to a journal at a time;
// the callers have to ensure that (see package filelock). A file that others own or may
// write to is refused with [userdir.ErrUntrusted]. The folders above it are not checked, so
// they should be those of package userdir.
//
// Compression, removing single records, and reading records behind damage are not
// supported. On Windows, folders can't be synced, and owners and modes are not checked.
// Where files have only one name, two processes that make the same journal at once may both
// succeed.
package journal
