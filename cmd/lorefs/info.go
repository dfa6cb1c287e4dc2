package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/internal/jsonout"
)

func newInfo(log *slog.Logger) *cobra.Command {
	var f sourceFlags
	asJSON := false
	c := &cobra.Command{
		Use:   "info SOURCE",
		Short: "show header, counts and versions",
		Args:  exactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openShown(c.Context(), args[0], &f, log)
			if err != nil {
				return err
			}
			defer s.Close()
			d, err := s.Describe()
			if err != nil {
				return err
			}
			if !asJSON {
				return d.Print(c.OutOrStdout())
			}
			return jsonout.Object(c.OutOrStdout(), d)
		},
	}
	f.add(c.Flags())
	addJSON(c, &asJSON, oneObject)
	return c
}
