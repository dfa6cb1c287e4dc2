package tablekind

import (
	"context"
	"io"
	"text/tabwriter"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/internal/shown"
)

// description is the output of info for client tables. Its fields are printed in this order, and
// scripts rely on their names.
type description struct {
	Tables int   `json:"tables"`
	Rows   int64 `json:"rows"`
	// Hidden are the rows that need a missing key.
	Hidden int64 `json:"hidden"`
	// Unnamed counts tables without a definition, and Wrong those that can't be read.
	Unnamed int `json:"unnamed"`
	Wrong   int `json:"wrong"`
	// Definitions counts those of the folder of definitions.
	Definitions int `json:"definitions"`

	SourceSize  int64     `json:"source_size"`
	SourceMtime time.Time `json:"source_mtime"`
}

// Describe implements [kinds.Archive]. It opens each table.
func (t *tables) Describe() (kinds.Description, error) {
	d := description{Tables: t.tree.Len(), SourceSize: t.options.SourceSize, SourceMtime: t.options.ModTime.UTC()}
	if t.lib != nil {
		d.Definitions = t.lib.Len()
	}
	for i := range t.tree.Len() {
		s, err := t.tree.Summary(context.Background(), i)
		if err != nil {
			return nil, err
		}
		d.Rows += int64(s.Rows)
		for _, h := range s.Hidden {
			d.Hidden += int64(h.Rows)
		}
		if s.Unnamed != "" {
			d.Unnamed++
		}
		if s.Error != "" {
			d.Wrong++
		}
	}
	return d, t.Check()
}

// Print implements [kinds.Description].
func (d description) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	shown.Fprintf(t, "tables\t%d, of %d bytes\n", d.Tables, d.SourceSize)
	shown.Fprintf(t, "rows\t%d\n", d.Rows)
	if d.Hidden > 0 {
		shown.Fprintf(t, "notice\t%d more need a key that is missing: tables.json tells which\n", d.Hidden)
	}
	shown.Fprintf(t, "definitions\t%d\n", d.Definitions)
	if d.Unnamed > 0 {
		shown.Fprintf(t, "notice\t%d tables have numbers in place of names of columns: tables.json tells why\n", d.Unnamed)
	}
	if d.Wrong > 0 {
		shown.Fprintf(t, "notice\t%d tables can't be read: verify tells why\n", d.Wrong)
	}
	return t.Flush()
}
