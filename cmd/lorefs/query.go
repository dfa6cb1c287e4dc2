package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter/query"
	"lorefs/internal/jsonout"
)

// querying are the flags of query.
type querying struct {
	source options.SourceFlags
	asJSON bool
	count  bool
	out    *bufio.Writer
	lines  *jsonout.Lines
	spell  func(string) string
}

func newQuery(log *slog.Logger) *cobra.Command {
	var q querying
	c := &cobra.Command{
		Use:   "query SOURCE EXPR",
		Short: "find nodes and attributes by an XPath-like expression",
		Long: `query prints the nodes and attributes of a data center that an expression finds. Each line
has the path below tree/ and, for an attribute, the value. Lines are in the order of the
file. Expressions are a part of XPath:

  /ItemData/Item[@id=5001]/@rank            a path from the sheets down
  //Skill[@type='ranged' or Projectile]     // is any depth; and, or, not(...)
  /StrSheet_Item/String[contains(@string,'sword')]     also starts-with
  //Item[3]  //Item[last()]  //*  //@*      positions, any name
  (//Item)[3]                               the third of all that a path finds
  //Quest/text()                            a node's text, which is __value__

Numbers compare as numbers: = != < <= > >=. Put names that are not plain in braces:
/{weird name}. Join queries with |. query exits with 1 if it finds nothing.`,
		Args: cli.ExactArgs("SOURCE", "EXPR"),
		RunE: func(c *cobra.Command, args []string) error {
			expr, err := query.Compile(args[1])
			if err != nil {
				return cli.UsageErrorf("%w", err)
			}
			ctx := c.Context()
			q.source.AsFile = true
			s, err := reach.OpenToRead(c, args[0], &q.source, log)
			if err != nil {
				return err
			}
			defer s.Close()
			q.out, q.spell = bufio.NewWriter(c.OutOrStdout()), cli.Spelling(c)
			q.lines = jsonout.NewLines(q.out)
			err = q.run(ctx, s, expr)
			return cmp.Or(q.out.Flush(), err)
		},
	}
	q.source.AddDataCenter(c.Flags())
	cli.AddJSON(c, &q.asJSON, cli.ObjectALine)
	c.Flags().BoolVarP(&q.count, "count", "c", false, "print only how many there are")
	return c
}

func (q *querying) run(ctx context.Context, s *kinds.Source, expr *query.Query) error {
	d, err := reach.DataCenterOf(s)
	if err != nil {
		return err
	}
	n := 0
	for m, err := range expr.Run(ctx, d.File()) {
		if err != nil {
			return err
		}
		n++
		if q.count {
			continue
		}
		if err := q.print(&m); err != nil {
			return err
		}
	}
	switch {
	case q.count && q.asJSON:
		err = q.lines.Write(jsonCount{n})
	case q.count:
		_, err = fmt.Fprintln(q.out, n)
	}
	if err != nil {
		return err
	}
	if err := d.Check(); err != nil || n > 0 {
		return err
	}
	e := &cli.Error{Code: cli.ExitFailure}
	if unknown := cli.UnknownNames(expr.Unknown(d.File().Names()), d.File().Names()); unknown != "" {
		e.Err = errors.New(unknown)
	}
	return e
}

// jsonCount is printed by --count with --json.
type jsonCount struct {
	Count int `json:"count"`
}

// jsonMatch is a match as --json prints it.
type jsonMatch struct {
	Kind  string `json:"kind"`
	Path  string `json:"path"`
	XPath string `json:"xpath"`
	// Type and Value are those of an attribute.
	Type  string  `json:"type,omitempty"`
	Value *string `json:"value,omitempty"`
}

func (q *querying) print(m *query.Match) error {
	var text []byte
	if m.Kind == query.Attribute {
		var err error
		if text, err = m.Attribute.AppendText(nil); err != nil {
			return err
		}
	}
	if q.asJSON {
		j := jsonMatch{Kind: m.Kind.String(), Path: m.Path, XPath: m.XPath()}
		if m.Kind == query.Attribute {
			j.Type, j.Value = m.Attribute.Type().String(), new(string(text))
		}
		return q.lines.Write(j)
	}
	line := append(q.out.AvailableBuffer(), q.spell(m.Path)...)
	if m.Kind == query.Attribute {
		line = append(append(line, " = "...), q.spell(string(text))...)
	}
	_, err := q.out.Write(append(line, '\n'))
	return err
}
