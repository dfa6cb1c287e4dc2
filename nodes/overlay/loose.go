package overlay

import (
	"slices"
	"strings"
)

// Loose are the files of a Tree that hold nothing that can be saved, apart from texts that
// were refused. Both lists have paths, in order.
type Loose struct {
	// Scratch are an editor's own, see [IsScratch].
	Scratch []string
	// Strays are all others: nobody has given them a value, or they are no part of the
	// source by their names.
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

// Sort puts both lists in order, once all is added.
func (l *Loose) Sort() {
	slices.Sort(l.Scratch)
	slices.Sort(l.Strays)
}

// IsScratch tells whether a file or directory of a name is an editor's: nothing that can
// be saved is called like that.
func IsScratch(name string) bool { return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") }
