// Package refs is the command that finds what refers to a node of a data center by its number.
package refs

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter"
	"lorefs/datacenter/query"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// idName is the attribute by which others refer to a node.
const idName = "id"

// New returns the command.
func New(log *slog.Logger) *cobra.Command {
	var f options.SourceFlags
	asJSON := false
	c := &cobra.Command{
		Use:   "refs SOURCE EXPR",
		Short: "find what refers to a node of a data center by its number",
		Long: `refs prints the attributes of a data center that have the number of a node, its attribute id.
Their names have to say that they are for such nodes: itemId or rewardItemId for an Item of
ItemData. EXPR is a query for children of sheets, as lorefs query takes it.

  lorefs refs SOURCE '/ItemData/Item[@id=5001]'

No file says what a number stands for. So each line says how many of the numbers at such
places are numbers of such nodes. Where less than half are, refs prints nothing. It does not
find numbers in lists, nor those in attributes with other names. It exits with 1 if it finds
nothing.`,
		Args: cli.ExactArgs("SOURCE", "EXPR"),
		RunE: func(c *cobra.Command, args []string) error {
			expr, err := query.Compile(args[1])
			if err != nil {
				return cli.UsageErrorf("%w", err)
			}
			f.AsFile = true
			s, err := reach.OpenToRead(c, args[0], &f, log)
			if err != nil {
				return err
			}
			defer s.Close()
			d, err := reach.DataCenterOf(s)
			if err != nil {
				return err
			}
			r := &search{file: d.File(), groups: map[string]*group{}}
			if err := cmp.Or(r.seek(c.Context(), expr), r.run(c.Context())); err != nil {
				return err
			}
			return cmp.Or(r.print(c, asJSON), d.Check())
		},
	}
	f.AddDataCenter(c.Flags())
	cli.AddJSON(c, &asJSON, cli.ObjectALine)
	return c
}

// search is a run of the command.
type search struct {
	file *datacenter.File
	// sheet and child are the names of the nodes that are referred to, and sought their numbers.
	sheet, child string
	sought       map[int32]bool
	// nodes is how many nodes have these numbers.
	nodes int
	// groups are by their places.
	groups map[string]*group
	order  []string
}

// group are the attributes at one place: the names of nodes and of the attribute.
type group struct {
	// values is how many numbers there are but 0 and negative ones, which stand for none, and known how many of them are
	// of such nodes.
	values, known int
	refs          []Ref
}

// Ref is an attribute that refers to a node. Its fields are printed in this order, and scripts rely on their names.
type Ref struct {
	Path  string `json:"path"`
	XPath string `json:"xpath"`
	Value int32  `json:"value"`
	// Place are the names of nodes and of the attribute. Of Values numbers there, Known are of such nodes.
	Place  string `json:"place"`
	Values int    `json:"values"`
	Known  int    `json:"known"`
}

// seek finds the nodes that an expression is for.
func (r *search) seek(ctx context.Context, expr *query.Query) error {
	r.sought = map[int32]bool{}
	for m, err := range expr.Run(ctx, r.file) {
		if err != nil {
			return err
		}
		if m.Kind != query.Node || len(m.Steps) != 2 {
			return cli.UsageErrorf("%s: EXPR has to find children of sheets, such as /ItemData/Item[@id=5001]", m.XPath())
		}
		if r.sheet == "" {
			r.sheet, r.child = m.Steps[0].Name, m.Steps[1].Name
		}
		if r.sheet != m.Steps[0].Name || r.child != m.Steps[1].Name {
			return cli.UsageErrorf("EXPR finds nodes of several kinds: /%s/%s and /%s/%s", r.sheet, r.child, m.Steps[0].Name, m.Steps[1].Name)
		}
		a, ok, err := m.Node.Attr(idName)
		if err != nil {
			return err
		}
		if !ok || a.Type() != datacenter.Int {
			return &cli.Error{Code: cli.ExitFailure, Err: fmt.Errorf("%s has no number: nothing can refer to it", m.Path)}
		}
		r.sought[a.Int()] = true
	}
	if len(r.sought) == 0 {
		return &cli.Error{Code: cli.ExitFailure, Err: fmt.Errorf("EXPR finds nothing")}
	}
	return nil
}

// endings are what the names of attributes end with, in lower case.
func (r *search) endings() (all []string) {
	base := strings.ToLower(r.sheet)
	for _, suffix := range []string{"templatedata", "data", "list"} {
		if stem, is := strings.CutSuffix(base, suffix); is && stem != "" {
			base = stem
			break
		}
	}
	for _, stem := range []string{base, strings.ToLower(r.child), base + strings.ToLower(r.child)} {
		all = append(all, stem+"id", stem+"templateid")
	}
	return all
}

// run finds the attributes.
func (r *search) run(ctx context.Context) error {
	all := map[int32]bool{}
	number := func(m *query.Match) (v int32, ok bool, err error) {
		if m.Attribute.Type() == datacenter.Int {
			return m.Attribute.Int(), true, nil
		}
		text, err := m.Attribute.AppendText(nil)
		n, parseErr := strconv.ParseInt(string(text), 10, 32)
		return int32(n), parseErr == nil, err
	}
	each := func(expr string, visit func(m *query.Match, v int32)) error {
		q, err := query.Compile(expr)
		if err != nil {
			return err
		}
		for m, err := range q.Run(ctx, r.file) {
			if err != nil {
				return err
			}
			v, ok, err := number(&m)
			if err != nil {
				return err
			}
			if ok && v > 0 {
				visit(&m, v)
			}
		}
		return nil
	}
	of := query.AppendName(append(query.AppendName([]byte("/"), r.sheet), '/'), r.child)
	if err := each(string(of)+"/@"+idName, func(_ *query.Match, v int32) {
		all[v] = true
		if r.sought[v] {
			r.nodes++
		}
	}); err != nil {
		return err
	}
	var parts []string
	endings := r.endings()
	for _, name := range r.file.Names() {
		folded := strings.ToLower(name)
		if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(folded, e) }) {
			parts = append(parts, string(query.AppendName([]byte("//@"), name)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return each(strings.Join(parts, " | "), func(m *query.Match, v int32) { r.add(m, v, all[v]) })
}

// add counts an attribute, and keeps it if it refers to what is sought.
func (r *search) add(m *query.Match, v int32, known bool) {
	var b []byte
	for i := range m.Steps {
		b = query.AppendName(append(b, '/'), m.Steps[i].Name)
	}
	place := string(query.AppendName(append(b, "/@"...), m.Attribute.Name()))
	g := r.groups[place]
	if g == nil {
		g = &group{}
		r.groups[place], r.order = g, append(r.order, place)
	}
	g.values++
	if known {
		g.known++
	}
	if r.sought[v] {
		g.refs = append(g.refs, Ref{Path: m.Path, XPath: m.XPath(), Value: v, Place: place})
	}
}

// print prints what was found.
func (r *search) print(c *cobra.Command, asJSON bool) error {
	out, spell := bufio.NewWriter(c.OutOrStdout()), cli.Spelling(c)
	lines := jsonout.NewLines(out)
	n, doubtful := 0, 0
	for _, place := range r.order {
		g := r.groups[place]
		if 2*g.known < g.values {
			doubtful += len(g.refs)
			continue
		}
		for _, ref := range g.refs {
			n++
			ref.Values, ref.Known = g.values, g.known
			var err error
			if asJSON {
				err = lines.Write(ref)
			} else {
				_, err = shown.Fprintf(out, "%s = %d  # %d of %s there %s numbers of %s\n", spell(ref.Path), ref.Value, g.known,
					shown.Plural(int64(g.values), "number"), shown.Is(int64(g.known)), spell(r.sheet+"/"+r.child))
			}
			if err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if n > 0 && r.nodes > len(r.sought) {
		shown.Fprintf(c.ErrOrStderr(), "lorefs: in several sheets, %d nodes %s/%s have the same numbers: this is what refers to any of them\n", r.nodes, r.sheet, r.child)
	}
	if doubtful > 0 {
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s left out: most numbers there are of something else\n", shown.Plural(int64(doubtful), "attribute"))
	}
	if n == 0 {
		return &cli.Error{Code: cli.ExitFailure}
	}
	return nil
}
