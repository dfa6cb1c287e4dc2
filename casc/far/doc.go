// Package far reads encoded files of a storage that is far away, such as on the hosts of a CDN.
// Somebody else fetches them: see [Remote].
//
// To be read in this order: remote.go, for what is asked of whoever fetches, and the objects of a
// storage; archives.go, which finds an encoded file, with the table of all indexes; file.go, which
// reads it, and chunks.go, what it keeps in memory; rows.go, which fetches many small files at once;
// stored.go, for those who want files as they are there.
package far
