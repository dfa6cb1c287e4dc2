package dctree

import "strings"

// isScratch tells whether a file of that name is an editor's, and no data: package
// treepath spells no name of the data center like that.
func isScratch(file string) bool {
	return strings.HasPrefix(file, ".") || strings.HasSuffix(file, "~")
}
