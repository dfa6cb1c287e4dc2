package main

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/casc"
	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

func newVerify(log *slog.Logger) *cobra.Command {
	var f options.SourceFlags
	var v verifying
	c := &cobra.Command{
		Use:   "verify SOURCE",
		Short: "check everything that the format allows to be checked",
		Long: `verify prints one line with an offset for each part of SOURCE that breaks a rule of its
format. If there are any, it exits with 1.

--strict also reports what the format allows but a careful writer avoids. That is data
which is stored twice or unused; official files have some too. It is also siblings of one
name that are not in the order of their key definitions. lorefs keeps such an order, and
other programs may not. It is also a time in the header: novadrop-dc opens no such file.`,
		Args: cli.ExactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			return v.run(c, args[0], &f, log)
		},
	}
	f.Add(c.Flags())
	f.AddTo(c.Flags(), []options.Option{
		{
			Name: "since", Typed: true, Kinds: []string{kinds.CASCName}, Value: &v.since,
			Help: "of a CASC storage, leave out archives before `place`, ARCHIVE:OFFSET, where another run was interrupted",
		},
		{
			Name: "strict", Typed: true, Kinds: options.KindsThat(func(k *kinds.Kind) bool { return k.Strict }), Value: &v.strict,
			Help: "also report what only wastes space",
		},
	})
	cli.AddJSON(c, &v.asJSON, cli.ObjectALine)
	c.Flags().IntVar(&v.limit, "limit", 0, "stop after so many findings (default: never)")
	return c
}

// verifying is one run of verify.
type verifying struct {
	asJSON, strict bool
	limit          int
	// since is where to begin in the archives of a CASC storage.
	since string

	out   *bufio.Writer
	lines *jsonout.Lines
	// count is the number of findings.
	count int
}

// to says where findings are printed.
func (v *verifying) to(c *cobra.Command) {
	v.out = bufio.NewWriter(c.OutOrStdout())
	v.lines = jsonout.NewLines(v.out)
}

func (v *verifying) run(c *cobra.Command, path string, f *options.SourceFlags, log *slog.Logger) error {
	opts := kinds.VerifyOptions{Strict: v.strict}
	if v.since != "" {
		var err error
		if opts.Since, err = casc.ParsePlace(v.since); err != nil {
			return cli.UsageErrorf("--since %q: want ARCHIVE:OFFSET, as verify tells when it is interrupted", v.since)
		}
	}
	p := cli.NewProgress("checking")
	defer p.Finish()
	source, opened, err := reach.SourceOf(&f.Set, path, c.ErrOrStderr())
	if err != nil {
		return err
	}
	if opened == nil || opened.Unsaved > 0 {
		reach.TellUnsaved(c.ErrOrStderr(), "verify checks what was saved", source, f.World)
	}
	k, o, err := f.Reach(c.Context(), source, log, p.Set)
	if err != nil {
		return reach.ExplainInside(source, err)
	}
	v.to(c)
	for found, err := range k.Verify(c.Context(), source, o, opts) {
		if err != nil {
			return v.end(c, path, reach.ExplainInside(source, f.ExplainKey(source, err)))
		}
		if more, err := v.found(found.Object, found.Line); err != nil || !more {
			return v.end(c, path, err)
		}
	}
	return v.end(c, path, nil)
}

// errEnough ends a check that has found as much as was asked for.
var errEnough = errors.New("enough was found")

// end returns the result of a run that ended with err.
func (v *verifying) end(c *cobra.Command, path string, err error) error {
	if flushErr := v.out.Flush(); flushErr != nil {
		return flushErr
	}
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return v.verdict(c, path)
}

// found prints a finding, as an object or as text, and reports whether to go on.
func (v *verifying) found(object any, text fmt.Stringer) (more bool, err error) {
	v.count++
	if v.asJSON {
		err = v.lines.Write(object)
	} else {
		_, err = shown.Fprintf(v.out, "%s\n", text)
	}
	return err == nil && v.count != v.limit, err
}

// verdict prints a summary on stderr, since stdout is for the findings.
func (v *verifying) verdict(c *cobra.Command, name string) error {
	if v.count == 0 {
		shown.Fprintf(c.ErrOrStderr(), "%s: nothing is wrong\n", name)
		return nil
	}
	stopped := ""
	if v.count == v.limit {
		stopped = "stopped after "
	}
	shown.Fprintf(c.ErrOrStderr(), "%s: %s%s\n", name, stopped, shown.Plural(v.count, "finding"))
	return &cli.Error{Code: cli.ExitFailure}
}
