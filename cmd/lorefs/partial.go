package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"lorefs/internal/app/kinds"
	"lorefs/internal/shown"
)

// tellPartial prints which files were written with zeros for blocks whose key is not known, and
// returns an error if there are any. Files without a key that are no failure are only counted.
func tellPartial(c *cobra.Command, s *kinds.Source, ignored bool) error {
	partial := s.Partial()
	if len(partial) == 0 {
		return nil
	}
	n := shown.Plural(int64(len(partial)), "file")
	if ignored {
		shown.Fprintf(c.ErrOrStderr(), "%s of them with zeros for blocks of unknown keys\n", n)
		return nil
	}
	for _, name := range partial {
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: there are zeros for blocks of unknown keys\n", name)
	}
	return fmt.Errorf("%s %s written with zeros for blocks of unknown keys", n, shown.Was(int64(len(partial))))
}
