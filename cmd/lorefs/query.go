package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter/labels"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
	"lorefs/internal/jsonout"
	"lorefs/internal/tabular"
)

// querying are the flags of query.
type querying struct {
	source options.SourceFlags
	asJSON bool
	count  bool
	names  bool
	labels *labels.Labels
	table  tableFlags
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
/{weird name}. Join queries with |. query exits with 1 if it finds nothing.

--columns makes a table, with a row for each node:

  lorefs query SOURCE //Item --columns 'id,name,Stat/@maxHp' --sort=-id --format csv

--names adds what players see: the text of StrSheet_Item with the number of an item, and so
on. It stands behind # or, with --json, in the member label. lorefs finds out from the data
which texts are for which nodes: see lorefs help datacenter.

A column is an attribute, of the node or of the first below it that has one. path(), name()
and value() are columns, too, and * is all attributes. If you give --format or --sort alone,
the columns are path() and all attributes or, for what ends in an attribute, value().
lorefs help tables describes the formats.`,
		Args: cli.ExactArgs("SOURCE", "EXPR"),
		RunE: func(c *cobra.Command, args []string) error {
			expr, err := query.Compile(args[1])
			if err != nil {
				return cli.UsageErrorf("%w", err)
			}
			if err := q.table.compile(c, &q); err != nil {
				return err
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
			if q.table.is {
				err = q.printTable(c, s, expr)
			} else {
				err = q.run(ctx, s, expr)
			}
			return cmp.Or(q.out.Flush(), err)
		},
	}
	q.source.AddDataCenter(c.Flags())
	cli.AddJSON(c, &q.asJSON, cli.ObjectALine)
	c.Flags().BoolVar(&q.names, "names", false, "add the text that players see for a node or, below it, for the child of a sheet")
	c.Flags().BoolVarP(&q.count, "count", "c", false, "print only how many there are")
	q.table.add(c)
	return c
}

// tableFlags are the flags of a table of what is found.
type tableFlags struct {
	columns, order, format string

	is     bool
	shown  *query.Columns // nil for those that suit the query
	sorted *query.Columns
	as     tabular.Format
}

func (f *tableFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.columns, "columns", "", "print a table with these `columns`, such as id,name,Stat/@maxHp")
	c.Flags().StringVar(&f.order, "sort", "", "sort the table by `columns`; a - before one has the largest first")
	cli.AddTableFormat(c, &f.format)
}

// compile reads the flags.
func (f *tableFlags) compile(c *cobra.Command, q *querying) (err error) {
	flags := c.Flags()
	f.is = flags.Changed("columns") || flags.Changed("sort") || flags.Changed("format")
	switch {
	case !f.is:
		return nil
	case q.count:
		return cli.UsageErrorf("--count prints a number and no table")
	case q.names:
		return cli.UsageErrorf("--names goes with no table: --json prints the member label")
	case q.asJSON:
		return cli.UsageErrorf("--json describes what is found; --format jsonl prints a table as JSON")
	}
	if f.as, err = cli.TableFormat(f.format); err != nil {
		return err
	}
	if f.columns != "" {
		if f.shown, err = query.CompileColumns(f.columns); err != nil {
			return cli.UsageErrorf("--columns: %w", err)
		}
	}
	if f.order != "" {
		if f.sorted, err = query.CompileOrder(f.order); err != nil {
			return cli.UsageErrorf("--sort: %w", err)
		}
	}
	return nil
}

// printTable prints a table of what is found.
func (q *querying) printTable(c *cobra.Command, s *kinds.Source, expr *query.Query) error {
	d, err := reach.DataCenterOf(s)
	if err != nil {
		return err
	}
	columns := cmp.Or(q.table.shown, expr.DefaultColumns())
	for _, list := range []*query.Columns{columns, q.table.sorted} {
		if list == nil {
			continue
		}
		if err := unknownNames(d, list.Unknown(d.File().Names())); err != nil {
			return err
		}
	}
	rows, err := expr.Rows(c.Context(), d.File(), columns, q.table.sorted)
	if err != nil {
		return err
	}
	w := tabular.NewWriter(q.out, q.table.as, rows.Names())
	var buf []byte
	for row, err := range rows.All() {
		if err == nil {
			buf, err = row.Put(w, buf)
		}
		if err != nil {
			return err
		}
	}
	if err := w.End(); err != nil {
		return err
	}
	cli.TellBroken(c, w.Broken())
	return q.found(d, expr, w.Rows())
}

func (q *querying) run(ctx context.Context, s *kinds.Source, expr *query.Query) error {
	d, err := reach.DataCenterOf(s)
	if err != nil {
		return err
	}
	if q.names {
		q.labels = labels.New(d.File())
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
		if err := q.print(ctx, &m); err != nil {
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
	return q.found(d, expr, int64(n))
}

// found returns an error if nothing was found.
func (q *querying) found(d *dckind.DataCenter, expr *query.Query, n int64) error {
	if err := d.Check(); err != nil || n > 0 {
		return err
	}
	return cmp.Or(unknownNames(d, expr.Unknown(d.File().Names())), error(&cli.Error{Code: cli.ExitFailure}))
}

// unknownNames returns an error about names that a data center does not have, if there are any.
func unknownNames(d *dckind.DataCenter, names []string) error {
	if unknown := cli.UnknownNames(names, d.File().Names()); unknown != "" {
		return &cli.Error{Code: cli.ExitFailure, Err: errors.New(unknown)}
	}
	return nil
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
	// Attributes and Text are those of a node, which may have none.
	Attributes json.RawMessage `json:"attributes,omitempty"`
	Text       json.RawMessage `json:"text,omitempty"`
	// Label is what players see, with --names.
	Label string `json:"label,omitempty"`
}

// label returns what players see for a match, or "".
func (q *querying) label(ctx context.Context, m *query.Match) (string, error) {
	if q.labels == nil || len(m.Steps) < 2 {
		return "", nil
	}
	s, c := &m.Steps[0], &m.Steps[1]
	return q.labels.At(ctx, s.Name, s.Nth, c.Name, c.Nth)
}

func (q *querying) print(ctx context.Context, m *query.Match) error {
	label, err := q.label(ctx, m)
	if err != nil {
		return err
	}
	var text []byte
	if m.Kind == query.Attribute {
		if text, err = m.Attribute.AppendText(nil); err != nil {
			return err
		}
	}
	if q.asJSON {
		j := jsonMatch{Kind: m.Kind.String(), Path: m.Path, XPath: m.XPath(), Label: label}
		if m.Kind == query.Attribute {
			j.Type, j.Value = m.Attribute.Type().String(), new(string(text))
			return q.lines.Write(j)
		}
		if j.Attributes, j.Text, err = sheets.AttributesJSON(m.Node); err != nil {
			return err
		}
		return q.lines.Write(j)
	}
	line := append(q.out.AvailableBuffer(), q.spell(m.Path)...)
	if m.Kind == query.Attribute {
		line = append(append(line, " = "...), q.spell(string(text))...)
	}
	if label != "" {
		line = append(append(line, "  # "...), q.spell(label)...)
	}
	_, err = q.out.Write(append(line, '\n'))
	return err
}
