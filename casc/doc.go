// Package casc reads CASC storages, in which games of Blizzard keep their files:
// installs, and folders as content delivery networks have them.
//
// It follows the page "CASC" of wowdev.wiki as of May 2016 and, where that is wrong
// or silent, what CascLib and cascette-rs read. A file is found in steps, each of which has a
// format of its own:
//
//	.build.info           names the configurations                 ParseBuildInfo
//	config/ab/cd/abcd…    name the manifests                       ParseConfig
//	root                  name or ID to content key                ParseRoot
//	encoding              content key to encoding keys             NewEncoding
//	data/*.idx            encoding key to a place in data.NNN      NewIdx
//	data/…/*.index        the same, in folders of a CDN            ParseArchiveIndex
//	data.NNN              the encoded file                         package blte
//
// A content key is the MD5 of a file's content. An encoding key is that of the
// encoded file's header, which has the MD5 of each chunk: so what leads to a file
// also proves that it is the right one. These MD5s are of what is encrypted: a file of
// which some is gets compared with its content key as a whole before any of that is
// handed out, for else a wrong key may give anything. Only of one that is known by its
// encoding key alone, which neither the root nor the encoding file has with a content
// key, what a key makes of it is believed.
//
// Open reads the configurations, the index, and where the pages of the encoding file
// are; the root is read by Files and Walk. A game may write to its storage
// meanwhile: see Storage.Refresh. Storage.Verify checks all of a storage.
//
// # Local index, version 7, little-endian but for the place
//
//	0x10:4 hash:4 version:2 bucket:1 0:1 widths:4 max_offset:8 zero:8
//	size:4 hash:4 ( ekey:9 archive:10bit offset:30bit size:4 )×n    sorted
//	update section: pages of 512 bytes, each of 21 entries
//	( guard:4 ekey:9 archive:10bit offset:30bit size:4 status:1 unused:1 )
//
// The bucket of a key is in the file's name, with a version, of which the highest
// counts. If that file is damaged the next lower one is taken. Sizes count a header
// of 30 bytes before each file, which is not needed and never believed.
//
// # Encoding file, big-endian
//
//	"EN" version:1 16:1 16:1 page_KiB:2 page_KiB:2 pages:4 pages:4 0:1 specs:4
//	( spec NUL )… ( first_key:16 md5:16 )×pages page… ( … )×pages page… own_spec
//	content page   ( count:1 size:5 ckey:16 ekey:16×count )… 0
//	encoded page   ( ekey:16 spec:4 size:5 )…
//
// # Archive index, big-endian but for the count
//
//	page of ( ekey:16 size:4 [archive:2] offset:(0|4) )…, zeros to its end
//	last_key:16×pages md5:8×pages
//	toc_md5:8 1:1 0:1 0:1 page_KiB:1 offset_bytes:1 4:1 16:1 8:1 count:4 md5:8
//
// # Manifests, big-endian
//
//	install   "IN" version:1 16:1 tags:2 entries:4 tag… ( name NUL ckey:16 size:4 )…
//	download  "DL" version:1 16:1 checksums:1 entries:4 tags:2 [flag_bytes:1] [base:1 unused:3]
//	          ( ekey:16 size:5 priority:1 [checksum:4] [flags] )… tag…
//	tag       name NUL type:2 bits, a bit an entry, the first highest
//	size      "DS" version:1 unused:1 entries:4 key_bits:2 total:(8|5) [size_bytes:1]
//	          ( ekey [NUL] hash:2 size )…
//	patch     "PA" version:1 16:1 16:1 16:1 block_bits:1 blocks:2 flags:1
//	          [ ckey:16 ekey:16 size:4 size:4 length:1 spec ] ( last:16 md5:16 offset:4 )…
//	          ( patches:1 ckey:16 size:5 ( from:16 size:5 patch:16 size:4 index:1 )… )… 0
//
// The layouts of roots stand with their types: WoWRoot, TVFS, TextRoot, Diablo3,
// MNDX, Overwatch; builds without any use the install manifest.
//
// # What is not proven
//
// There was no whole real storage to test with, only real parts. By description
// only, where their type says so, are: .build.db, index files of version 5, install
// manifests of version 2, download manifests of version 2 and 3, size manifests,
// the roots of Diablo III, Heroes of the Storm and Overwatch, and shmem of version
// 5. Where the update section begins and over how many bytes its guards go is
// described in two ways: every page is looked at, and both guards are accepted. The
// checksum of span headers is proven at offset 0 of archive 0 only, and never
// needed. Whether the offset of a TVFS span is in the file or in the content is
// told by what fits.
//
// # What is not supported
//
// Storages without a local index, as games on Steam have them; indexes of what is
// resident (version 8); names of Diablo IV and of the virtual file system of World of
// Warcraft, whose root is taken instead. Of Overwatch, package manifests (APM) and
// encrypted content manifests are files like any other: what they name has no name.
// Binary patches (zbsdiff) are listed, not applied. Nothing is downloaded and nothing
// written.
package casc
