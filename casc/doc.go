// Package casc reads CASC storages, in which games of Blizzard keep their files: installed
// games, and mirrors, which are folders laid out as content delivery networks (CDNs) have
// them.
//
// [OpenPath] and [Open] open a storage. [Storage.OpenName] opens a file of it, and
// [Storage.FS] shows all its files as a file system.
//
// It follows the page "CASC" of wowdev.wiki as of May 2016 and, where that is wrong or
// silent, what CascLib and cascette-rs read. A file is found in steps, each of which has a
// format of its own:
//
//	.build.info           names the configurations                 config.ParseBuildInfo
//	config/ab/cd/abcd…    name the manifests                       config.Parse
//	root                  name or ID to content key                ParseRoot
//	encoding              content key to encoding keys             encoding.New
//	data/*.idx            encoding key to a place in data.NNN      index.NewIdx
//	data/…/*.index        the same, in folders of a CDN            index.ParseArchive
//	data.NNN              the encoded file                         package blte
//
// A content key is the MD5 of a file's content. An encoding key is the MD5 of the encoded
// file's header, which has the MD5 of each chunk. So the key that leads to a file also
// proves that it is the right file. But these MD5s cover encrypted bytes, and a wrong key
// may decrypt them to anything. So the whole content of a file with encrypted chunks is
// compared with its content key before any of it is returned. Only if neither the root nor
// the encoding file has a content key for it, it is returned unproven.
//
// Open reads the configurations, the index, and the list of pages of the encoding file.
// Files and Walk read the root. A game may write to its storage meanwhile: see
// Storage.Refresh. Storage.Verify checks all of a storage.
//
// The layouts of indexes stand in package casc/index, that of the encoding file in casc/encoding, and
// those of manifests in casc/manifests.
//
// The layouts of roots stand with their packages, casc/internal/root/wow, tvfs, text, diablo3, mndx
// and overwatch. Builds without a usable root use the install manifest.
//
// # Far away
//
// OpenRemote opens a build whose objects somebody else fetches, such as from a CDN:
//
//	config/ab/cd/KEY      configurations, named by their MD5
//	data/ab/cd/KEY        archives, and loose files named by their encoding key
//	data/ab/cd/KEY.index  the index of an archive, named by the MD5 of its last 28 bytes
//
// Nothing is used that is not proven: an encoded file by the MD5 of its header, which has the
// MD5s of its chunks; a page of the encoding file by its MD5 in the table before the pages. That
// table is in a chunk of its own, and the pages are plain, so a page is read by itself. Where
// they are not plain, the whole chunk is.
//
// # Not proven
//
// There was no whole real storage to test with, only real parts. Where their type says so,
// these are written by description only: .build.db, index files of version 5, install
// manifests of version 2, download manifests of version 2 and 3, the roots of Diablo III,
// Heroes of the Storm and Overwatch, and shmem of version 5. Of size manifests only the
// lengths that build configurations state are real. Descriptions differ on where the update section begins and how many bytes its guards cover; so every
// page is looked at, and both guards are accepted. The checksum of span headers is proven
// only at offset 0 of archive 0, and never needed. Whether the offset of a TVFS span is in
// the file or in the content is decided by which of them fits.
//
// # Not supported
//
// Storages without a local index, as games on Steam have them; indexes of resident files
// (version 8); names of Diablo IV and of the virtual file system of World of Warcraft,
// whose root is used instead. Package manifests (APM) and encrypted content manifests of
// Overwatch are shown as plain files, and the assets that they list have no names. Binary
// patches (zbsdiff) are listed, not applied. Nothing is written.
//
// # To be read in this order
//
// Package keys first, then the formats as they are needed: config, encoding, index, manifests, and root
// with internal/root. Where a storage lies is internal/store, in general; internal/folder, for installs
// and mirrors; and far, for what others fetch. Here storage.go opens a storage, with
// storage_search.go and storage_config.go for its build; far_open.go opens one that is far away, and
// far.go has what only that can do. storage_root.go, root_parse.go and storage_files.go have the
// root's files; storage_read.go, content.go, forms.go and prove.go read one of them; fs.go shows all.
// verify.go and verify_files.go check everything.
package casc
