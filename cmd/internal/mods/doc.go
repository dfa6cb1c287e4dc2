// Package mods has what commands do with several patches of a data center: it reads them, says whose
// values count, tells what they share, and builds a data center of them. lorefs apply uses it, too.
//
//   - read.go: patches of files and of standard input
//   - prefer.go: whose value counts where they want different ones
//   - tell.go: what they share, as text and as JSON
//   - build.go and file.go: lorefs build, and the file that it reads
//   - merge.go: lorefs patch merge
package mods
