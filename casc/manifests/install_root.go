package manifests

import (
	"iter"

	"lorefs/casc/root"
)

// installRoot shows the install manifest as a root, for builds without another.
type installRoot struct{ *Install }

// Root returns the manifest as a root, for builds that have no other.
func (m *Install) Root() root.Root { return installRoot{m} }

func (r installRoot) Kind() string { return "install" }

func (r installRoot) Files() iter.Seq2[root.File, error] {
	return func(yield func(root.File, error) bool) {
		for _, e := range r.Entries {
			if !yield(root.File{Name: root.CleanName(e.Name), CKey: e.CKey, Size: e.Size}, nil) {
				return
			}
		}
	}
}
