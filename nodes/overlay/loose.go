package overlay

import (
	"slices"
	"strings"
)

// Loose lists the files of a Tree that can't be saved, apart from refused texts. Both lists have
// paths, sorted.
type Loose struct {
	// Scratch has the files that editors made for themselves, see [IsScratch].
	Scratch []string
	// Strays has all others: they have no value so far, or their names can't be those of files
	// of the source.
	Strays []string
}

// Add adds a file.
func (l *Loose) Add(file string) {
	if slices.ContainsFunc(strings.Split(file, "/"), IsScratch) {
		l.Scratch = append(l.Scratch, file)
	} else {
		l.Strays = append(l.Strays, file)
	}
}

// Sort sorts both lists, after all files were added.
func (l *Loose) Sort() {
	slices.Sort(l.Scratch)
	slices.Sort(l.Strays)
}

// IsScratch reports whether a name is one that editors give to files and directories of their
// own. Nothing with such a name is saved.
func IsScratch(name string) bool { return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") }
