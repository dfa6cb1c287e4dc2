// Package verify checks data centers against every rule of the format, including rules that no reader needs.
//
// # The order in which to read it
//
//   - verify.go: the order of the checks, and those of the shell, the header and the small tables
//   - content.go: how tables and nodes are checked side by side
//   - table.go: string tables
//   - graph.go, plain.go: nodes and attributes; nearly all are plain
//   - strict.go: what is stored for nothing
package verify
