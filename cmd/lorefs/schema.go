package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/treecopy"
	"lorefs/datacenter/sheets"
)

const (
	strategyConservative = "conservative"
	strategyAggressive   = "aggressive"
)

func newSchema(log *slog.Logger) *cobra.Command {
	var f sourceFlags
	var files filing
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
		Args: exactArgs("SOURCE", "DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			how := sheets.Conservative
			switch strategy {
			case strategyConservative:
			case strategyAggressive:
				how = sheets.Aggressive
			default:
				return usageErrorf("--strategy %q is unknown: want %s or %s", strategy, strategyConservative, strategyAggressive)
			}
			f.asFile = true
			s, err := openToRead(c, args[0], &f, log)
			if err != nil {
				return err
			}
			defer s.Close()
			return writeSchemas(ctx, c, s, args[1], how, &files)
		},
	}
	f.addDataCenter(c.Flags())
	files.add(c)
	strategy = strategyConservative
	f.addTo(c.Flags(), []option{{
		name: "strategy", typed: true, words: []string{strategyConservative, strategyAggressive}, value: &strategy,
		help: "how recursive schemas are: conservative or aggressive",
	}})
	return c
}

// writeSchemas writes all schemas.
func writeSchemas(ctx context.Context, c *cobra.Command, s *kinds.Source, dir string, strategy sheets.Strategy, files *filing) error {
	d, err := dataCenterOf(s)
	if err != nil {
		return err
	}
	all, err := d.SchemaFiles(strategy)
	if err != nil {
		return err
	}
	return files.run(c, s, dir, func(o treecopy.Options) (treecopy.Report, error) {
		return treecopy.Write(ctx, all, dir, o)
	})
}
