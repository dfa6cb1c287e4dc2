package cli

import (
	"fmt"
	"strings"

	"lorefs/cmd/internal/nearest"
)

// UnknownNames says which names of a query a data center does not have, and which of its own
// may be meant. It is empty if there are none.
func UnknownNames(unknown, names []string) string {
	var hints []string
	for _, name := range unknown {
		hints = append(hints, fmt.Sprintf("nothing is called %q", name)+DidYouMean(name, names))
	}
	return strings.Join(hints, "; ")
}

// DidYouMean returns what to add to the message that a name is unknown, empty if none of the
// names that there are is near.
func DidYouMean(name string, names []string) string {
	near := nearest.Name(name, names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", near)
}
