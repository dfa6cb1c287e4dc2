package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"lorefs/internal/cores"
)

// dialect is where a definition has its pointers.
type dialect uint8

const (
	// hoisted definitions, those of tera-toolbox, have all pointers of a scope before its
	// fields of fixed size. Definitions without pointers, or with nothing else, count as
	// hoisted.
	hoisted dialect = iota
	// inline definitions, those of tera-proxy, have a pointer where its field stands.
	inline
	// listed definitions have lines for their pointers.
	listed
)

// looks tells what the text of a definition shows of its dialect.
type looks struct {
	listed bool
	// before is set if a field of fixed size stands before a string, bytes or an array of
	// the same scope, behind if one stands behind.
	before, behind bool
	// extended is set if there is something that only the parser of the inline dialect
	// knows: @include, T[n], defaults and fields of some patches.
	extended bool
}

// dialect returns the dialect in which the definition makes sense.
//
// tera-toolbox would read a field of fixed size behind a string from the string's own
// bytes, so only inline definitions can have one. If all such fields stand before, the text
// is the same in both dialects. It counts as hoisted then, since real packets have their
// pointers first, also those of all public inline definitions.
func (l looks) dialect() dialect {
	switch {
	case l.listed:
		return listed
	case l.behind:
		return inline
	}
	return hoisted
}

func looksOf(d *Definition) looks {
	l := looks{extended: d.includes}
	l.add(d.Fields, &seen{}, 0)
	return l
}

// seen says which fields a scope has had so far.
type seen struct{ fixed, variable bool }

// add looks at the fields of a scope, or of an object in it.
func (l *looks) add(fields []Field, in *seen, depth int) {
	if depth > 2*maxNesting {
		return // Compile refuses it
	}
	for i := range fields {
		f := &fields[i]
		l.extended = l.extended || f.Type == TypeFixed || f.Default != "" || f.Patches != PatchRange{}
		switch {
		case f.Type.pointer():
			l.listed = true
		case f.Type == TypeObject:
			l.add(f.Fields, in, depth+1)
		case f.Type.variable():
			in.variable, l.before = true, l.before || in.fixed
			l.add(f.Fields, &seen{}, depth+1)
		default:
			in.fixed, l.behind = true, l.behind || in.variable
		}
	}
}

// guess describes the fields of a scope that are read by a guess.
type guess struct {
	paths []string
	// first is the first of them. behind is the string, bytes or array that it stands
	// behind.
	first, behind *Field
}

// guesses lists the fields of fixed size behind those of other sizes, in a scope and in
// the elements of its arrays.
func guesses(flats []flat) (list []guess) {
	var own guess
	for i := range flats {
		switch f := &flats[i]; {
		case f.m == nil:
		case f.typ.variable():
			own.behind = cmp.Or(own.behind, f.field)
			if f.m.elem != nil {
				list = append(list, f.m.elem.guessedIn(f.m.path)...)
			}
		case own.behind != nil:
			own.first = cmp.Or(own.first, f.field)
			own.paths = append(own.paths, f.m.path)
		}
	}
	if own.first != nil {
		list = append(list, own)
	}
	return list
}

// guessedIn returns the guesses in the elements of an array.
func (s *scope) guessedIn(array string) []guess {
	list := slices.Clone(s.guessed)
	for i := range list {
		list[i].paths = slices.Clone(list[i].paths)
		for k := range list[i].paths {
			list[i].paths[k] = array + "[]." + list[i].paths[k]
		}
	}
	return list
}

// Guessed returns the fields that are read by a guess: those of fixed size behind a string,
// bytes or an array of the same scope, if only this shows that the definition is of the
// inline dialect. tera-toolbox would write them behind the data, and cannot read them
// there. A [Library] has none if its folder is inline.
func (t *Table) Guessed() []Diagnostic {
	var list diagnostics
	for _, g := range t.guessed {
		fields := g.paths[0] + " lies"
		if n := len(g.paths) - 1; n > 0 {
			fields = fmt.Sprintf("%s and %d more lie", g.paths[0], n)
		}
		list.addf(g.first.File, g.first.Line, "it is a guess where %s, behind %v %s: lines of ref or --inline say it", fields, g.behind, g.behind.Name)
	}
	return list
}

// appendGuessed appends the paths of the guessed fields, as a member of JSON.
func (t *Table) appendGuessed(dst []byte) []byte {
	n := 0
	for _, g := range t.guessed {
		for _, path := range g.paths {
			if n > maxDiagnostics {
				continue
			}
			dst = append(dst, []string{`,"guessed":[`, ","}[min(n, 1)]...)
			if n == maxDiagnostics {
				path = "…"
			}
			dst = strconv.AppendQuote(dst, path)
			n++
		}
	}
	if n > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// isInline reports whether the definitions of the folder are of the inline dialect: some
// have what only its parser knows, and more look inline than hoisted.
func (l *Library) isInline() bool {
	l.inlineOnce.Do(func() {
		var behind, before, extended, next atomic.Int64
		var work sync.WaitGroup
		for range min(cores.Count(), l.used) {
			work.Go(func() {
				for i := next.Add(1) - 1; i < int64(l.used); i = next.Add(1) - 1 {
					d, err := l.definition(int(i))
					if err != nil {
						continue // its own users get the error
					}
					look := looksOf(d)
					if look.extended {
						extended.Add(1)
					}
					switch look.dialect() {
					case inline:
						behind.Add(1)
					case hoisted:
						if look.before {
							before.Add(1)
						}
					}
				}
			})
		}
		work.Wait()
		l.inline = extended.Load() > 0 && behind.Load() > before.Load()
	})
	return l.inline
}
