package casc

import (
	"iter"
)

// installRoot shows the install manifest as a root, for builds without another.
type installRoot struct{ *Install }

// Root returns the manifest as a root, for builds that have no other.
func (m *Install) Root() Root { return installRoot{m} }

func (r installRoot) Kind() string { return "install" }

func (r installRoot) Files() iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for _, e := range r.Entries {
			if !yield(File{Name: cleanName(e.Name), CKey: e.CKey, Size: e.Size}, nil) {
				return
			}
		}
	}
}
