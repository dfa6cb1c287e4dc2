package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/internal/app/kinds"
	"lorefs/nodes"
)

func newCat(log *slog.Logger) *cobra.Command {
	var f sourceFlags
	c := &cobra.Command{
		Use:   "cat SOURCE PATH...",
		Short: "print files without mounting",
		Long: `cat prints the files at paths of SOURCE. In a data center a PATH that begins with / and
does not exist is an expression of lorefs query, and cat prints the attributes that it
finds:

  lorefs cat SOURCE '/NpcData[@huntingZoneId=2]/Template[@id=1001]/Stat/@level'`,
		Args: func(c *cobra.Command, args []string) error {
			return exactArgs("SOURCE", "PATH")(c, args[:min(len(args), 2)])
		},
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openShown(c.Context(), args[0], &f, log)
			if err != nil {
				return err
			}
			defer s.Close()
			out := bufio.NewWriter(c.OutOrStdout())
			for _, name := range args[1:] {
				err = errors.Join(err, cat(c.Context(), s, name, out))
			}
			return errors.Join(err, out.Flush())
		},
	}
	f.add(c.Flags())
	return c
}

// cat prints the file at a path, or all attributes that a query finds.
func cat(ctx context.Context, s *kinds.Source, name string, w io.Writer) error {
	for e, err := range s.FindAll(ctx, name) {
		if err != nil {
			return explainPath(err)
		}
		if e.Kind == nodes.Dir {
			return fmt.Errorf("%s: %w", name, nodes.ErrIsDir)
		}
		if t, can := s.Tree.(nodes.Streamer); can {
			if _, ok, err := t.Stream(ctx, e.ID, w); ok || err != nil {
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				continue
			}
		}
		// Hide ReadFrom: bufio.Writer keeps an error of the reader, and returns it again.
		if _, err := io.Copy(struct{ io.Writer }{w}, s.Content(ctx, e.Entry)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// explainPath adds to an error of FindAll which names are unknown.
func explainPath(err error) error {
	e, ok := errors.AsType[*kinds.NoMatchError](err)
	if !ok {
		return err
	}
	return &commandError{code: exitFailure, err: err, hint: unknownNames(e.Unknown, e.Names)}
}
