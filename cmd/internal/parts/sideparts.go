package parts

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter/patch"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/shown"
)

// A folder on one side may be a part of what is on the other. Of a kind of sheets of which it has none, nothing is
// compared. Where it never had all sheets of a kind, it is completed with those of the other side.

// partSide describes a side that may be a part.
type partSide struct {
	// is says that kinds which it lacks are not compared.
	is bool
	// of is how many kinds the other side has, and lacking are the names of those that this one lacks.
	of      int
	lacking []string
	// lent is how many sheets it has from the other side.
	lent int
}

// complete completes the folders that lack sheets of the other side which were never there.
func (s *Sides) complete(ctx context.Context) error {
	if s.All {
		return nil
	}
	raw := s.looked
	for i, path := range s.Paths {
		if raw[i] == nil {
			continue
		}
		mark, err := dckind.MarkOf(path)
		if err != nil {
			return err
		}
		// What a folder lacks on the left would be added, which is right if it had all once.
		s.parts[i].is = i == 1 || mark == nil || !mark.Whole()
		if mark == nil {
			continue
		}
		s.looked[i] = sync.OnceValues(func() (*pack.Folder, error) {
			folder, err := raw[i]()
			if err != nil {
				return nil, err
			}
			if raw[1-i] == nil {
				d, err := reach.DataCenterOf(s.opened[0])
				if err != nil {
					return nil, err
				}
				folder, s.parts[i].lent, err = dckind.Completed(folder, mark, d.Loans(ctx))
				return folder, err
			}
			other, err := raw[1-i]()
			if err != nil {
				return nil, err
			}
			folder, s.parts[i].lent, err = dckind.Completed(folder, mark, other.Loans())
			return folder, err
		})
	}
	return nil
}

// Diffed returns which sides are parts.
func (s *Sides) Diffed() patch.Parts { return patch.Parts{A: s.parts[0].is, B: s.parts[1].is} }

// lack finds out which kinds the parts lack.
func (s *Sides) lack() error {
	if s.Diffed() == (patch.Parts{}) {
		return nil
	}
	var names [2][]string
	for i, f := range s.Files {
		var err error
		if names[i], err = dckind.SheetNames(f); err != nil {
			return err
		}
	}
	for name := range s.Same.Places() { // they are not in the file of a folder
		for i := range names {
			if s.looked[i] != nil && !slices.Contains(names[i], name) {
				names[i] = append(names[i], name)
			}
		}
	}
	for i := range s.parts {
		p := &s.parts[i]
		p.lacking, p.of = nil, len(names[1-i])
		for _, name := range names[1-i] {
			if p.is && !slices.Contains(names[i], name) {
				p.lacking = append(p.lacking, name)
			}
		}
	}
	return nil
}

// fewNames is how many names a message lists.
const fewNames = 3

// Tell tells which sheets are not compared.
func (s *Sides) Tell(w io.Writer) {
	for i, p := range s.parts {
		if n := len(p.lacking); n > 0 {
			what := "the others"
			if n <= fewNames {
				what = strings.Join(p.lacking, ", ")
			}
			shown.Fprintf(w, "lorefs: %s has %d of %d kinds of sheets: %s %s not compared (--all compares all)\n",
				s.Paths[i], p.of-n, p.of, what, shown.Is(n))
		}
		if p.lent > 0 {
			shown.Fprintf(w, "lorefs: %s that never %s in %s %s not compared (--all compares all)\n",
				shown.Plural(p.lent, "sheet"), shown.Was(p.lent), s.Paths[i], shown.Is(p.lent))
		}
	}
}

// NotCompared is a side of diff that is a part, as --json prints it.
type NotCompared struct {
	Kind string `json:"kind"`
	// Path of the folder.
	Path string `json:"path"`
	// Of is how many kinds of sheets the other side has, and Kinds are those that are not compared. Sheets is how many
	// sheets of other kinds are not compared.
	Of     int      `json:"of"`
	Kinds  []string `json:"kinds"`
	Sheets int      `json:"sheets"`
}

// NotCompared returns the sides of which sheets are not compared.
func (s *Sides) NotCompared() (list []NotCompared) {
	for i, p := range s.parts {
		if len(p.lacking)+p.lent > 0 {
			list = append(list, NotCompared{"not_compared", s.Paths[i], p.of, cli.AsList(p.lacking), p.lent})
		}
	}
	return list
}
