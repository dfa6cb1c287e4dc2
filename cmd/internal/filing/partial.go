package filing

import (
	"fmt"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/kinds"
	"lorefs/internal/shown"
)

// TellPartial prints which files were written with zeros for blocks whose key is not known, and
// returns an error if there are any. Files without a key that are no failure are only counted.
func TellPartial(c *cobra.Command, s *kinds.Source, ignored bool) error {
	partial := s.Partial(c.Context())
	if len(partial) == 0 {
		return nil
	}
	if ignored {
		shown.Fprintf(c.ErrOrStderr(), "%d of them with zeros for blocks of unknown keys\n", len(partial))
		return nil
	}
	for _, name := range partial {
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: there are zeros for blocks of unknown keys\n", name)
	}
	n := int64(len(partial))
	return fmt.Errorf("%s %s written with zeros for blocks of unknown keys", shown.Plural(n, "file"), shown.Was(n))
}
