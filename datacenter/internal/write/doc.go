// Package write writes a data center from its parts. Builder of package datacenter is its front for whoever
// gives nodes one after the other; package rewrite moves the parts of a file, and package pack those of sheets.
//
// # The order in which to read it
//
//   - store.go: a Store, which lays out names, keys, runs and strings
//   - parts.go: parts that are stored one by one
//   - segments.go, runs.go, strings.go, table.go: how each is laid out, and stored once
//   - image.go: the inflated data as a whole
//   - deflate.go, seal.go: how it is compressed and encrypted
//   - hold.go: how it is opened instead
package write
