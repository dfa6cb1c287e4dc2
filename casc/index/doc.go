// Package index reads the indexes of CASC, which lead from encoding keys to places in archives, and
// what else says where something is in archives.
//
// # Local index, version 7, little-endian but for the place
//
//	0x10:4 hash:4 version:2 bucket:1 0:1 widths:4 max_offset:8 zero:8
//	size:4 hash:4 ( ekey:9 archive:10bit offset:30bit size:4 )×n    sorted
//	update section: pages of 512 bytes, each of 21 entries
//	( guard:4 ekey:9 archive:10bit offset:30bit size:4 status:1 unused:1 )
//
// The file's name has the bucket of its keys and a version. The highest version counts,
// unless that file is damaged: then the next lower one is used. Sizes include a header of
// 30 bytes before each file, which is not needed and never trusted.
//
// # Archive index, big-endian but for the count
//
//	page of ( ekey:16 size:4 [archive:2] offset:(0|4) )…, zeros to its end
//	last_key:16×pages md5:8×pages
//	toc_md5:8 1:1 0:1 0:1 page_KiB:1 offset_bytes:1 4:1 16:1 8:1 count:4 md5:8
//
// To be read in this order: idx.go, then idx_v7.go and idx_v5.go for its two forms and idx_run.go for
// the search; archive.go, then group.go, which makes one table of many; span.go for the header before
// each file of an archive, and shmem.go for their free space.
package index
