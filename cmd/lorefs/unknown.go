package main

import (
	"fmt"
	"strings"

	"lorefs/internal/nearest"
)

// unknownNames says which names of a query a data center does not have, and which of its own
// may be meant. It is empty if there are none.
func unknownNames(unknown, names []string) string {
	var hints []string
	for _, name := range unknown {
		hint := fmt.Sprintf("nothing is called %q", name)
		if near := nearest.Name(name, names); near != "" {
			hint += fmt.Sprintf(": did you mean %q?", near)
		}
		hints = append(hints, hint)
	}
	return strings.Join(hints, "; ")
}
