// Package mods has what commands do with several patches of a data center: it reads them, says whose
// values count, and tells what they share.
//
//   - read.go: patches of files and of standard input
//   - prefer.go: whose value counts where they want different ones
//   - tell.go: what they share, as text and as JSON
package mods
