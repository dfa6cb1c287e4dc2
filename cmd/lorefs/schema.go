package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/filing"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/treecopy"
	"lorefs/datacenter/sheets"
)

const (
	strategyConservative = "conservative"
	strategyAggressive   = "aggressive"
)

func newSchema(log *slog.Logger) *cobra.Command {
	var f options.SourceFlags
	var files filing.Flags
	strategy := ""
	c := &cobra.Command{
		Use:   "schema SOURCE DIR",
		Short: "write the schemas of all sheets of a data center to a folder",
		Long: `schema infers a schema from the data for each name of sheets, and writes it to
DIR/Sheet/Sheet.xsd. DIR/DataCenter.xsd has the types that all of them use.

--strategy says when a schema is recursive. conservative gives each path a type of its own,
as in the sheets/ of a mount. aggressive gives a child with its parent's name the type of
its parent.

schema leaves existing files alone, and then exits with 1. --overwrite replaces them.`,
		Args: cli.ExactArgs("SOURCE", "DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			how := sheets.Conservative
			switch strategy {
			case strategyConservative:
			case strategyAggressive:
				how = sheets.Aggressive
			default:
				return cli.UsageErrorf("--strategy %q is unknown: want %s or %s", strategy, strategyConservative, strategyAggressive)
			}
			f.AsFile = true
			s, err := reach.OpenToRead(c, args[0], &f, log)
			if err != nil {
				return err
			}
			defer s.Close()
			return writeSchemas(ctx, c, s, args[1], how, &files)
		},
	}
	f.AddDataCenter(c.Flags())
	files.Add(c)
	strategy = strategyConservative
	f.AddTo(c.Flags(), []options.Option{{
		Name: "strategy", Typed: true, Words: []string{strategyConservative, strategyAggressive}, Value: &strategy,
		Help: "how recursive schemas are: conservative or aggressive",
	}})
	return c
}

// writeSchemas writes all schemas.
func writeSchemas(ctx context.Context, c *cobra.Command, s *kinds.Source, dir string, strategy sheets.Strategy, files *filing.Flags) error {
	d, err := reach.DataCenterOf(s)
	if err != nil {
		return err
	}
	all, err := d.SchemaFiles(strategy)
	if err != nil {
		return err
	}
	return files.Run(c, s, dir, func(o treecopy.Options) (treecopy.Report, error) {
		return treecopy.Write(ctx, all, dir, o)
	})
}
