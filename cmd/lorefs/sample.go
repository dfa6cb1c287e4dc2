package main

import (
	"errors"
	iofs "io/fs"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/sample"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

func newSample() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "sample DIR",
		Short: "write small made-up sources to try things on",
		Args:  exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			paths, err := sample.Write(args[0])
			lines := jsonout.NewLines(c.OutOrStdout())
			for _, p := range paths {
				if asJSON {
					err = errors.Join(err, lines.Write(sampleFile{p}))
				} else {
					shown.Fprintf(c.OutOrStdout(), "%s\n", p)
				}
			}
			if errors.Is(err, iofs.ErrExist) {
				err = &commandError{code: exitFailure, err: err, hint: "remove it, or name another folder"}
			}
			return err
		},
	}
	addJSON(c, &asJSON, objectALine)
	return c
}

// sampleFile is a source that was made, as --json prints it.
type sampleFile struct {
	Path string `json:"path"`
}
