package main

import (
	"errors"
	iofs "io/fs"

	"github.com/spf13/cobra"

	"lorefs/internal/app/sample"
	"lorefs/internal/shown"
)

func newSample() *cobra.Command {
	return &cobra.Command{
		Use:   "sample DIR",
		Short: "write small made-up sources to try things on",
		Args:  exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			paths, err := sample.Write(args[0])
			for _, p := range paths {
				shown.Fprintf(c.OutOrStdout(), "%s\n", p)
			}
			if errors.Is(err, iofs.ErrExist) {
				err = &commandError{code: exitFailure, err: err, hint: "remove it, or name another folder"}
			}
			return err
		},
	}
}
