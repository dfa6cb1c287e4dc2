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

func cat(ctx context.Context, s *kinds.Source, name string, w io.Writer) error {
	e, err := s.Find(ctx, name)
	if err != nil {
		return err
	}
	if e.Kind == nodes.Dir {
		return fmt.Errorf("%s: %w", name, nodes.ErrIsDir)
	}
	// Hide ReadFrom: bufio.Writer keeps an error of the reader, and returns it again.
	if _, err := io.Copy(struct{ io.Writer }{w}, s.Content(ctx, e)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
