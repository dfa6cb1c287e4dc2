package main

import (
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/shown"
)

func newValidate(_ *slog.Logger) *cobra.Command {
	var v verifying
	c := &cobra.Command{
		Use:   "validate DIR",
		Short: "check a folder of sheets against the schemas beside them",
		Long: `validate prints one line for each departure of a sheet below DIR from Sheet.xsd in its
folder, with file, line and column. It exits with 1 if there is any. novadrop-dc refuses
all of these; pack accepts most of them, and those that it refuses are marked. pack
--strict refuses the others as well, by name and count, except for the order of elements
and for attributes whose types the sheet states itself.

DIR may be a part of the sheets of a data center, as lorefs export SOURCE DIR sheets/ItemData
makes it. validate says so then, and checks what is there. If DIR is a mount, validate checks
the sheets in its sheets/.`,
		Args: cli.ExactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			dir := args[0]
			if m, err := reach.MountIn(dir); err == nil && m != nil && m.Inside == "." {
				dir = filepath.Join(dir, "sheets") // the rest has the same again, as millions of files
			}
			if err := isFolder(dir); err != nil {
				return err
			}
			folder, err := lookForSheets(c, dir)
			if err != nil {
				return err
			}
			v.to(c)
			err = folder.Validate(ctx, func(p pack.Problem) error {
				more, err := v.found(jsonProblem{p.File, p.Line, p.Column, p.What, p.Refused}, p)
				if err == nil && !more {
					err = errEnough
				}
				return err
			})
			return v.end(c, args[0], err)
		},
	}
	cli.AddJSON(c, &v.asJSON, cli.ObjectALine)
	c.Flags().IntVar(&v.limit, "limit", 0, "stop after so many findings (default: never)")
	return c
}

// lookForSheets looks through a folder of sheets, and tells if that is a part.
func lookForSheets(c *cobra.Command, dir string) (*pack.Folder, error) {
	folder, err := dckind.LookForSheets(c.Context(), dir)
	if err != nil {
		return nil, err
	}
	mark, err := dckind.MarkOf(dir)
	if err != nil {
		return nil, err
	}
	err = dckind.CheckWhole(dir, folder, mark)
	if part, is := errors.AsType[*dckind.PartError](err); is {
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: the others are not checked\n", part)
		err = nil
	}
	return folder, err
}

// jsonProblem is a problem as --json prints it.
type jsonProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	What    string `json:"what"`
	Refused bool   `json:"refused"`
}
