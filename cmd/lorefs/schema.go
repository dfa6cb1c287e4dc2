package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"lorefs/datacenter/sheets"
)

const (
	strategyConservative = "conservative"
	strategyAggressive   = "aggressive"
)

func newSchema(log *slog.Logger) *cobra.Command {
	var f sourceFlags
	strategy := ""
	c := &cobra.Command{
		Use:   "schema SOURCE DIR",
		Short: "write the schemas of all sheets of a data center to a folder",
		Long: `schema writes DIR/Sheet/Sheet.xsd for each name of sheets of a data center, and
DIR/DataCenter.xsd, inferred from the data. The strategy says when a schema is
recursive: conservative gives each path a type of its own, as in the sheets/ of a
mount; aggressive takes a child that is called like its parent for the same type.`,
		Args: exactArgs("SOURCE", "DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), stopSignals...)
			defer stop()
			opts := sheets.Options{Strategy: sheets.Conservative}
			switch strategy {
			case strategyConservative:
			case strategyAggressive:
				opts.Strategy = sheets.Aggressive
			default:
				return usageErrorf("--strategy %q is unknown: want %s or %s", strategy, strategyConservative, strategyAggressive)
			}
			s, err := openShown(ctx, args[0], &f, log)
			if err != nil {
				return err
			}
			defer s.Close()
			n, err := s.writeSchemas(ctx, args[1], opts)
			if err == nil {
				_, err = fmt.Fprintf(c.ErrOrStderr(), "%d schemas\n", n)
			}
			return err
		},
	}
	f.addDataCenter(c.Flags())
	c.Flags().StringVar(&strategy, "strategy", strategyConservative, "conservative or aggressive")
	return c
}

// writeSchemas writes all schemas, and tells how many.
func (s *opened) writeSchemas(ctx context.Context, dir string, opts sheets.Options) (n int, err error) {
	d, err := s.dataCenter()
	if err != nil {
		return 0, err
	}
	src, err := sheets.New(d.dc, nil, opts)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, dirPerm); err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(dir, sheets.SchemasFile), []byte(sheets.CommonSchema), filePerm); err != nil {
		return 0, err
	}
	for _, f := range src.Families() {
		schema, err := f.Schema(ctx)
		if err != nil {
			return n, err
		}
		folder := filepath.Join(dir, f.File)
		if err := os.MkdirAll(folder, dirPerm); err != nil {
			return n, err
		}
		if err := os.WriteFile(filepath.Join(folder, f.SchemaFile()), schema.AppendXSD(nil), filePerm); err != nil {
			return n, err
		}
		n++
	}
	return n, d.check()
}
