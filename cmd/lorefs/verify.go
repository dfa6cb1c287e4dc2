package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/datacenter"
)

func newVerify(log *slog.Logger) *cobra.Command {
	var f sourceFlags
	asJSON, strict, limit := false, false, 0
	c := &cobra.Command{
		Use:   "verify SOURCE",
		Short: "check everything that the format allows to be checked",
		Long: `verify prints one line for everything in SOURCE that breaks a rule of its format,
each with its offset. It exits with 1 if there is any. With --strict, it prints as
well what the format allows but a careful writer avoids: what is stored twice, or
used by nothing. Official files have some of that.`,
		Args: exactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			s, err := openFile(args[0], int64(f.cacheSize))
			if err != nil {
				return err
			}
			defer s.Close()
			out := bufio.NewWriter(c.OutOrStdout())
			n, err := f.verify(c, s, log, limit, strict, finder(out, asJSON))
			if err := out.Flush(); err != nil {
				return err
			}
			if err != nil {
				return f.explain(args[0], err)
			}
			return verdict(c, args[0], n, limit)
		},
	}
	f.add(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "print an object a line: offset, in_file, where, what")
	c.Flags().BoolVar(&strict, "strict", false, "tell of what only wastes room, too")
	c.Flags().IntVar(&limit, "limit", 0, "stop after so many findings (default: never)")
	return c
}

// verify shows what it finds, and counts it.
func (f *sourceFlags) verify(
	c *cobra.Command, s *opened, log *slog.Logger, limit int, strict bool, show func(datacenter.Finding) error,
) (int, error) {
	opts, err := f.options(s, log)
	if err != nil {
		return 0, err
	}
	p := newProgress("inflating")
	defer p.finish()
	opts.Progress = p.set
	verify := datacenter.Verify
	if strict {
		verify = datacenter.VerifyStrict
	}
	n := 0
	for finding, err := range verify(c.Context(), s.reader(), s.file.Size(), opts) {
		if err != nil {
			return n, err
		}
		n++
		if err := show(finding); err != nil || n == limit {
			return n, err
		}
	}
	return n, s.check()
}

// finder picks the form of the output.
func finder(w io.Writer, asJSON bool) func(datacenter.Finding) error {
	if !asJSON {
		return func(f datacenter.Finding) error {
			_, err := fmt.Fprintln(w, f)
			return err
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(f datacenter.Finding) error {
		return enc.Encode(jsonFinding{f.Off, f.InFile, f.Where, f.What})
	}
}

type jsonFinding struct {
	Offset int64  `json:"offset"`
	InFile bool   `json:"in_file"`
	Where  string `json:"where"`
	What   string `json:"what"`
}

// verdict sums up on stderr, as stdout is for the findings.
func verdict(c *cobra.Command, name string, n, limit int) error {
	if n == 0 {
		fmt.Fprintf(c.ErrOrStderr(), "%s: nothing is wrong\n", name)
		return nil
	}
	stopped, plural := "", "s"
	if n == limit {
		stopped = "stopped after "
	}
	if n == 1 {
		plural = ""
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s: %s%d finding%s\n", name, stopped, n, plural)
	return &commandError{code: exitFailure}
}
