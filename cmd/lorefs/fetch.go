package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/budget"
	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds/casckind"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

func newFetch(log *slog.Logger) *cobra.Command {
	var f options.SourceFlags
	var o casckind.FetchOptions
	asJSON := false
	c := &cobra.Command{
		Use:   "fetch SOURCE [PATH...] DIR",
		Short: "make a mirror of a build on a CDN or of an installed game, or of a part of it",
		Long: `fetch writes what SOURCE, cdn:PRODUCT or the folder of a CASC storage, has at the PATHs into
the folder DIR, encoded as on the CDN. DIR is a source afterwards: a mirror of this build with these files. Without
a PATH it fetches all files, which may be more than 100 GB. A PATH that does not exist may
be a pattern.

fetch checks everything before it writes it, and does not fetch again what is in DIR
already. So an interrupted fetch goes on where it was. At the end it says how much it has
written, and how much is left. The exit code is 1 if anything is left.

Each file becomes an object of its own. With --archives, the archives that have the files
are fetched as they are, with all indexes that belong to them. Most other programs read only
such mirrors, but the archives have files of other builds as well.

The mirror of an installed game can lie on a web server or in an object store, where an
installed game can't be read. Of files that are not installed fetch only says how many. It
keeps each file whole, also if nobody knows the key that it is encrypted with.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.ExactArgs("SOURCE", "DIR")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.CASC.WholeFiles, f.CASC.Unhidden = true, true
			budget.Remote()
			s, err := reach.OpenToRead(c, args[0], &f, log)
			if err != nil {
				return err
			}
			defer s.Close()
			last := len(args) - 1
			o.Patterns = args[1:last]
			p := cli.NewCounter("fetching")
			o.Progress = oneAtATime(p.Set)
			done, err := casckind.Fetch(c.Context(), s, args[last], o)
			p.Finish()
			return reportFetched(c, done, err, asJSON)
		},
	}
	f.Add(c.Flags())
	c.Flags().BoolVar(&o.Archives, "archives", false, "fetch whole archives with their indexes, as other programs read mirrors")
	cli.AddJSON(c, &asJSON, cli.OneObject)
	return c
}

// reportFetched says what was fetched, and what is left.
func reportFetched(c *cobra.Command, done *casckind.Fetched, err error, asJSON bool) error {
	if errors.Is(err, casckind.ErrNotFetched) {
		return cli.UsageErrorf("%w", err)
	}
	if done == nil {
		return err
	}
	var printErr error
	if asJSON {
		printErr = jsonout.Object(c.OutOrStdout(), done)
	} else {
		for _, p := range done.Problems {
			shown.Fprintf(c.ErrOrStderr(), "lorefs: %s\n", p)
		}
		absent := ""
		if done.Absent > 0 {
			absent = fmt.Sprintf("; %d not installed", done.Absent)
		}
		_, printErr = shown.Fprintf(c.OutOrStdout(), "%s written, %s; %d there before; %d left%s\n",
			shown.Plural(done.Objects, "object"), shown.Plural(done.Bytes, "byte"), done.Had, done.Left, absent)
	}
	switch {
	case printErr != nil:
		return printErr
	case errors.Is(err, context.Canceled):
		return &cli.Error{Code: cli.ExitInterrupted, Err: fmt.Errorf("interrupted: %s left", shown.Plural(done.Left, "object"))}
	case err == nil && done.Left > 0:
		return &cli.Error{Code: cli.ExitFailure}
	}
	return err
}

// oneAtATime lets several goroutines show progress, of which only more counts.
func oneAtATime(set func(done, total int64)) func(done, total int64) {
	var mu sync.Mutex
	most := int64(0)
	return func(done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if done > most {
			most = done
			set(done, total)
		}
	}
}
