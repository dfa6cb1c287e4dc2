package kinds

import (
	"context"
	"fmt"

	"lorefs/cmd/internal/nearest"
	"lorefs/nodes"
)

// mostSiblings is among how many names of a directory the one is looked for that is meant.
const mostSiblings = 10_000

// MissingError means that a directory of a tree does not have a name. It matches
// [nodes.ErrNotExist].
type MissingError struct {
	// Dir is the path of the directory; empty for the root.
	Dir, Name string
	// Near is the name that may be meant; empty if there is none.
	Near string
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("there is no %q", e.Name)
	if e.Dir != "" {
		text += " in " + e.Dir
	}
	if e.Near != "" {
		text += fmt.Sprintf(": did you mean %q?", e.Near)
	}
	return text
}

func (e *MissingError) Unwrap() error { return nodes.ErrNotExist }

// missing returns the error for a name that a directory does not have.
func (s *Source) missing(ctx context.Context, dir nodes.ID, path, name string) error {
	var names []string
	for e, err := range s.Tree.ReadDir(ctx, dir, 0) {
		if err != nil || len(names) == mostSiblings {
			break // the guess is only help
		}
		names = append(names, e.Name)
	}
	return &MissingError{Dir: path, Name: name, Near: nearest.Name(name, names)}
}
