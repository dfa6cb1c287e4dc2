// Package mirror keeps on disk what a remote storage has given, so that nothing is fetched
// twice. The folder is a mirror that other programs can read as well:
//
//	mirror/PATH/config/ab/cd/KEY        whole objects, in the layout of the CDN. A file of an
//	mirror/PATH/data/ab/cd/KEY          archive lies there as a loose file
//	mirror/PATH/data/ab/cd/KEY.index
//	pieces/PATH/data/ab/cd/KEY/OFF-SIZE ranges of objects that are not there as a whole yet,
//	                                    both numbers in hexadecimal digits
//	versions/NAME                       the last answers of the version service
//	holds/R.lock, holds/R.keys          the keys that a running process still needs
//	tmp/R.part                          files that are being written
//
// Several processes may use a folder at the same time, and any of them may be killed at any
// moment. A file gets its name only when all of it is written. Nothing is synced, since all of
// it can be fetched again: after a power cut a file may have lost its content. Therefore
// what is read is checked each time, and removed if it is wrong.
//
// Trim keeps the folder below its limit, and makes room if the disk is nearly full. It removes
// what was not used for longest, first files and pieces, then configurations and indexes, and
// nothing that a running process holds. Files that have no name of the cache's are left alone.
//
// A disk that is full, or a folder that can't be written to, does not keep anybody from
// reading: the cache says so once, makes room as far as it can, and tries again a minute later.
package mirror
