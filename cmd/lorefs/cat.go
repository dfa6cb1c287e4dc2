package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

func newCat(log *slog.Logger) *cobra.Command {
	var f options.SourceFlags
	c := &cobra.Command{
		Use:   "cat SOURCE PATH...",
		Short: "print files without mounting",
		Long: `cat prints the files at paths of SOURCE. A PATH that does not exist may be a pattern; cat
then prints all files that it matches, in the order of the source:

  lorefs cat SOURCE 'files/**/*.txt'

` + patternHelp + `

In a data center a PATH that begins with / and does not exist is an expression of lorefs
query instead, and cat prints the attributes that it finds:

  lorefs cat SOURCE '/NpcData[@huntingZoneId=2]/Template[@id=1001]/Stat/@level'`,
		Args: func(c *cobra.Command, args []string) error {
			return cli.ExactArgs("SOURCE", "PATH")(c, args[:min(len(args), 2)])
		},
		RunE: func(c *cobra.Command, args []string) error {
			s, err := reach.OpenToRead(c, args[0], &f, log)
			if err != nil {
				return err
			}
			defer s.Close()
			reach.TellNames(c.ErrOrStderr(), log, s, args[1:]...)
			cat := catting{source: s, out: bufio.NewWriter(c.OutOrStdout()), talk: c.ErrOrStderr()}
			for _, name := range args[1:] {
				err = errors.Join(err, cat.all(c.Context(), name))
			}
			return errors.Join(err, cat.out.Flush())
		},
	}
	f.Add(c.Flags())
	return c
}

// catting prints files.
type catting struct {
	source *kinds.Source
	out    *bufio.Writer
	talk   io.Writer
}

// all prints the file at a path, or all that a query or a pattern finds. A pattern may match
// directories, too, and files that can't be read do not keep it from printing the others.
func (c *catting) all(ctx context.Context, name string) error {
	files, failed := 0, false
	for e, err := range c.source.FindAll(ctx, name) {
		switch {
		case err != nil:
			return explainPath(err)
		case e.Kind != nodes.Dir:
			files++
		case e.By == kinds.ByPattern:
			continue
		default:
			return fmt.Errorf("%s: %w", name, nodes.ErrIsDir)
		}
		if e.By == kinds.ByPath {
			e.Path = name
		}
		if err = c.one(ctx, &e); err == nil {
			if c.source.HasZeros(ctx, e.ID) {
				shown.Fprintf(c.talk, "lorefs: %s: there are zeros for blocks of unknown keys\n", e.Path)
			}
			continue
		}
		if _, full := c.out.Write(nil); full != nil || ctx.Err() != nil || e.By != kinds.ByPattern {
			return err
		}
		failed = true
		_ = cli.PrintError(c.talk, err) // the other files can still be read
	}
	switch {
	case failed:
		return &cli.Error{Code: cli.ExitFailure}
	case files == 0:
		return fmt.Errorf("%s: it matches directories only: %w", name, nodes.ErrIsDir)
	}
	return nil
}

func (c *catting) one(ctx context.Context, f *kinds.Found) error {
	if t, can := c.source.Tree.(nodes.Streamer); can {
		if _, ok, err := t.Stream(ctx, f.ID, c.out); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		} else if ok {
			return nil
		}
	}
	e, err := nodes.WithSize(ctx, c.source.Tree, f.Entry)
	if err == nil {
		// Hide ReadFrom: bufio.Writer keeps an error of the reader, and returns it again.
		_, err = io.Copy(struct{ io.Writer }{c.out}, c.source.Content(ctx, e))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return nil
}

// explainPath adds to an error of FindAll which names are unknown.
func explainPath(err error) error {
	e, ok := errors.AsType[*kinds.NoMatchError](err)
	if !ok {
		return err
	}
	return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: cli.UnknownNames(e.Unknown, e.Names)}
}
