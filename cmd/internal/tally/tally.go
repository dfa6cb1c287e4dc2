// Package tally counts edits and differences by where they are, for lists that nobody reads to the end.
package tally

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// Tally counts what is in lines of JSON, as edits and diff print them. It is written to.
type Tally struct {
	places map[string]*Place
	line   []byte
	// Lines counts all of them.
	Lines int64
}

// Place counts what is at one place: an attribute of all nodes of a path, or the files of a folder.
type Place struct {
	Path    string `json:"path"`
	Added   int64  `json:"added"`
	Removed int64  `json:"removed"`
	Changed int64  `json:"changed"`
	Moved   int64  `json:"moved"`
}

// Write counts the lines in p, and remembers a part of one at its end. It implements [io.Writer].
func (t *Tally) Write(p []byte) (int, error) {
	t.line = append(t.line, p...)
	for {
		line, rest, ended := bytes.Cut(t.line, []byte("\n"))
		if !ended {
			break
		}
		if err := t.count(line); err != nil {
			return 0, err
		}
		t.line = rest
	}
	t.line = slices.Clone(t.line) // what was cut off would stay
	return len(p), nil
}

// count counts a line. Lines that are no edit, such as those of open files, are left out.
func (t *Tally) count(line []byte) error {
	var e struct{ Kind, Path string }
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("BUG: a line is no JSON: %w", err)
	}
	var to func(*Place) *int64
	switch _, what, _ := strings.Cut(e.Kind, "_"); cmp.Or(what, e.Kind) {
	case "added":
		to = func(p *Place) *int64 { return &p.Added }
	case "removed":
		to = func(p *Place) *int64 { return &p.Removed }
	case "changed", "replaced", "or_encoded_anew":
		to = func(p *Place) *int64 { return &p.Changed }
	case "moved":
		to = func(p *Place) *int64 { return &p.Moved }
	default:
		return nil
	}
	t.Lines++
	path := general(e.Kind, e.Path)
	if t.places == nil {
		t.places = map[string]*Place{}
	}
	if t.places[path] == nil {
		t.places[path] = &Place{Path: path}
	}
	*to(t.places[path])++
	return nil
}

// general returns the path of all that is like what is at a path: of a data center a query without its
// conditions, or a path below tree/ without the numbers of siblings, and else the folder of a file.
func general(kind, path string) string {
	switch about, _, _ := strings.Cut(kind, "_"); about {
	case "node", "attribute", "keys", "flags", "order":
		if strings.HasPrefix(path, "/") {
			return withoutConditions(path)
		}
		return numbers.ReplaceAllString(path, "$1")
	}
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i+1]
	}
	return path
}

// numbers finds the numbers of siblings at the ends of names. A name that ends like that itself is
// spelled with %2E for the dot.
var numbers = regexp.MustCompile(`\.[0-9]+(/|$)`)

// withoutConditions takes the conditions out of a query. A text in quotes may hold brackets.
func withoutConditions(query string) string {
	var b strings.Builder
	depth, quote := 0, byte(0)
	for i := range len(query) {
		c := query[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[':
			depth++
		}
		if depth == 0 {
			b.WriteByte(c)
		}
		if c == ']' && quote == 0 {
			depth--
		}
	}
	return b.String()
}

// Print prints the counts: a line for each place, in the order of their paths, and the sum.
func (t *Tally) Print(w io.Writer, asJSON bool) error {
	var places []*Place
	for _, path := range slices.Sorted(maps.Keys(t.places)) {
		places = append(places, t.places[path])
	}
	if asJSON {
		lines := jsonout.NewLines(w)
		for _, p := range places {
			if err := lines.Write(p); err != nil {
				return err
			}
		}
		return nil
	}
	tab := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, p := range places {
		if _, err := shown.Fprintf(tab, "%s\t%s\n", p.Path, p.words()); err != nil {
			return err
		}
	}
	if err := tab.Flush(); err != nil || len(places) < 2 {
		return err
	}
	_, err := shown.Fprintf(w, "%s in %s\n", shown.Plural(t.Lines, "difference"), shown.Plural(len(places), "place"))
	return err
}

// words says what a place has, such as "2 added, 1 changed".
func (p *Place) words() string {
	var words []string
	for _, n := range []struct {
		count int64
		what  string
	}{{p.Added, "added"}, {p.Removed, "removed"}, {p.Changed, "changed"}, {p.Moved, "moved"}} {
		if n.count > 0 {
			words = append(words, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	return strings.Join(words, ", ")
}
