// Package form reads a data center in the form in which it is stored: blocks, regions, and stored nodes,
// attributes and strings. It knows nothing of paths and values. Package datacenter is the door for whoever
// reads one; the packages below that one, which write, splice, verify and compare, get at a File of this
// package by its Form.
//
// # The order in which to read it
//
//   - layout.go, header.go, node.go, attribute.go, attributeword.go, keynames.go, strings.go: what is stored
//   - region.go: where it is stored
//   - container.go, forward.go: the shell, AES-CFB over a zlib stream
//   - file.go: how a file is opened
//   - pass.go, passing.go, stream.go, count.go, marks.go: the first pass, which makes the index
//   - checkpoints.go, index.go, indexfile.go: the index, and how it is kept
//   - block.go, reading.go: inflated blocks, and what stands in front of their cache
//   - element.go, siblings.go: elements read at their address, and the order of siblings
//   - inmemory.go: data that was never compressed
//   - errors.go
package form
