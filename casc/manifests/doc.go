// Package manifests reads what lists the files of a build for the installer: which are installed
// outside the archives, when each is downloaded, how large they are, and which patches lead to them.
//
// Numbers are big-endian but for those of the patch index:
//
//	install   "IN" version:1 16:1 tags:2 entries:4 tag… ( name NUL ckey:16 size:4 )…
//	download  "DL" version:1 16:1 checksums:1 entries:4 tags:2 [flag_bytes:1] [base:1 unused:3]
//	          ( ekey:16 size:5 priority:1 [checksum:4] [flags] )… tag…
//	tag       name NUL type:2 bits, a bit an entry, the first highest
//	size      "DS" version:1 key_bytes:1 entries:4 tags:2 total:5 tag… ( ekey size:4 )…
//	patch     "PA" version:1 16:1 16:1 16:1 block_bits:1 blocks:2 flags:1
//	          [ ckey:16 ekey:16 size:4 size:4 length:1 spec ] ( last:16 md5:16 offset:4 )…
//	          ( patches:1 ckey:16 size:5 ( from:16 size:5 patch:16 size:4 index:1 )… )… 0
//
// To be read in this order: tags.go, which most of them share; install.go, the simplest, and
// install_root.go, which shows it as a root; download.go; size.go; patch.go; patchindex.go.
package manifests
