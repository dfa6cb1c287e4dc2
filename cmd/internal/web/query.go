package web

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lorefs/datacenter/query"
	"lorefs/internal/shown"
	"lorefs/internal/tabular"
	"lorefs/nodes"
)

// pathColumn is the column of a table that says where a node is, and treeView the view that shows it.
const (
	pathColumn = "_path"
	treeView   = "tree"
)

// asked is what the form of a query asks for.
type asked struct {
	// Query finds nodes. Columns are those of the table, empty for all, and Sort those that it is sorted by.
	Query, Columns, Sort string
	// From is the row that the page begins with.
	From int
}

// address returns the address of another page of a query.
func (a asked) address(change func(*asked)) string {
	change(&a)
	v := url.Values{"query": {a.Query}}
	for name, value := range map[string]string{"columns": a.Columns, "sort": a.Sort} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if a.From > 0 {
		v.Set("from", strconv.Itoa(a.From))
	}
	return "?" + v.Encode()
}

// heading is the head of a column, with the address that sorts by it.
type heading struct {
	Name, Sort string
	// Sorted is how the table is sorted by it, in the words of ARIA.
	Sorted string
}

// cell is a cell of a table, and where it leads.
type cell struct{ Text, Address string }

// queryPage is the page of what a query finds.
type queryPage struct {
	frame
	asked

	Wrong       string
	Headings    []heading
	Rows        [][]cell
	First, Next string
	CSV         string
}

// queries answers with a table of what a query finds in a data center, as a page or as CSV.
func (v *visit) queries(values url.Values) {
	p := queryPage{frame: v.frame(), asked: asked{Query: values.Get("query"), Columns: values.Get("columns"), Sort: values.Get("sort")}}
	p.From, _ = strconv.Atoi(values.Get("from")) // 0 for what is no number
	p.From = max(p.From, 0)
	rows, err := v.rows(&p.asked)
	switch {
	case err != nil:
		p.Wrong = shown.Line(err)
	case values.Has("csv"):
		v.table(rows)
		return
	default:
		err = v.pageOf(&p, rows)
	}
	if err != nil && p.Wrong == "" {
		fail(v.w, err)
		return
	}
	v.render("query.html", p)
}

// rows compiles a query. What is wrong with it is the error.
func (v *visit) rows(a *asked) (*query.Rows, error) {
	q, err := query.Compile(a.Query)
	if err != nil {
		return nil, err
	}
	columns := q.DefaultColumns()
	if a.Columns != "" {
		if columns, err = query.CompileColumns(a.Columns); err != nil {
			return nil, err
		}
	}
	var sorted *query.Columns
	if a.Sort != "" {
		if sorted, err = query.CompileOrder(a.Sort); err != nil {
			return nil, err
		}
	}
	names := v.opts.DataCenter.Names()
	unknown := slices.Concat(q.Unknown(names), columns.Unknown(names))
	if len(unknown) > 0 {
		return nil, fmt.Errorf("the data center has nothing called %s", strings.Join(unknown, ", "))
	}
	return q.Rows(v.r.Context(), v.opts.DataCenter, columns, sorted)
}

// table answers with all rows as CSV.
func (v *visit) table(rows *query.Rows) {
	v.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	v.w.Header().Set("Content-Disposition", disposition("query.csv", false))
	if v.r.Method == http.MethodHead {
		return
	}
	out := bufio.NewWriterSize(v.w, answerBuffer)
	w := tabular.NewWriter(out, tabular.CSV, rows.Names())
	var buf []byte
	for row, err := range rows.All() {
		if err == nil {
			buf, err = row.Put(w, buf)
		}
		if err != nil {
			v.breakOff(err)
		}
	}
	if w.End() == nil {
		_ = out.Flush() // the client may have gone
	}
}

// pageOf fills in the rows of one page.
func (v *visit) pageOf(p *queryPage, rows *query.Rows) error {
	var text bytes.Buffer
	w := tabular.NewWriter(&text, tabular.CSV, rows.Names())
	var buf []byte
	n := 0
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		if n == p.From+pageEntries {
			p.Next = p.address(func(a *asked) { a.From = n })
			break
		}
		if n++; n <= p.From {
			continue
		}
		if buf, err = row.Put(w, buf); err != nil {
			return err
		}
	}
	if err := w.End(); err != nil {
		return err
	}
	records, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(records) == 0 {
		return err
	}
	for _, name := range records[0] {
		p.Headings = append(p.Headings, p.heading(name))
	}
	for _, record := range records[1:] {
		p.Rows = append(p.Rows, v.cells(records[0], record))
	}
	if p.From > 0 {
		p.First = p.address(func(a *asked) { a.From = 0 })
	}
	p.CSV = p.address(func(a *asked) { a.From = 0 }) + "&csv"
	return nil
}

// heading returns the head of a column. A click sorts by it, and a second one the other way.
func (p *queryPage) heading(name string) heading {
	by := name
	switch name {
	case pathColumn:
		return heading{Name: name, Sort: p.address(func(a *asked) { a.Sort, a.From = "", 0 })}
	case "_name", "_value":
		by = name[1:] + "()"
	}
	h := heading{Name: shown.Text(name), Sorted: map[string]string{by: "ascending", "-" + by: "descending"}[p.Sort]}
	if h.Sorted == "ascending" {
		by = "-" + by
	}
	h.Sort = p.address(func(a *asked) { a.Sort, a.From = by, 0 })
	return h
}

func (v *visit) cells(names, record []string) (cells []cell) {
	for i, text := range record {
		c := cell{Text: shown.Text(text)}
		if names[i] == pathColumn {
			c.Address = v.address(treeView+"/"+text, nodes.File) // a folder leads on to its own address
		}
		cells = append(cells, c)
	}
	return cells
}
