package cli

import (
	"os"

	"github.com/spf13/cobra"

	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// TellKept returns a function that prints what is kept of a run that was killed.
func TellKept(c *cobra.Command) func(error) {
	return func(kept error) { shown.Fprintf(c.ErrOrStderr(), "lorefs: %v\n", kept) }
}

// WrittenFile is a file that was written, as --json prints it.
type WrittenFile struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// SayWritten prints what was written.
func SayWritten(c *cobra.Command, path string, asJSON bool) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case asJSON:
		err = jsonout.Object(c.OutOrStdout(), WrittenFile{path, info.Size()})
	default:
		_, err = shown.Fprintf(c.OutOrStdout(), "wrote %s: %d bytes\n", path, info.Size())
	}
	return err
}
