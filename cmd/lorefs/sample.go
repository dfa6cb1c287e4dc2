package main

import (
	"errors"
	iofs "io/fs"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/sample"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

func newSample() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "sample DIR",
		Short: "write small made-up sources to try things on",
		Args:  cli.ExactArgs("DIR"),
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
				err = &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "remove it, or name another folder"}
			}
			return err
		},
	}
	cli.AddJSON(c, &asJSON, cli.ObjectALine)
	return c
}

// sampleFile is a source that was made, as --json prints it.
type sampleFile struct {
	Path string `json:"path"`
}
