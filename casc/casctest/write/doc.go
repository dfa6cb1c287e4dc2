// Package write makes small CASC storages with every kind of root, and their parts, in
// memory. It is for samples and tests; lorefs never writes to a game's storage.
//
// write.go writes files and archives; read it first. roots.go, trie.go, tvfs.go and manifests.go write
// lists of files, and tables.go the indexes. cdn.go makes what a host has, and installed.go takes an
// installed storage apart.
package write
