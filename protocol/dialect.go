package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// dialect is how a definition says where its pointers stand.
type dialect uint8

const (
	// hoisted definitions, as tera-toolbox has them, mean all pointers of a scope to
	// stand before its fields of fixed size. It is also the dialect of those that have no
	// pointers, or nothing else.
	hoisted dialect = iota
	// inline definitions, as tera-proxy has them, mean a pointer to stand where its
	// field does.
	inline
	// listed definitions have lines for their pointers.
	listed
)

// looks is what the text of a definition shows of its dialect.
type looks struct {
	listed bool
	// before and behind tell whether a field of fixed size stands before a string, bytes
	// or an array of the same scope, or behind one.
	before, behind bool
	// extended tells of what only the parser of the inline dialect knows: @include, T[n],
	// defaults and fields of some patches.
	extended bool
}

// dialect returns the one that the definition makes sense in.
//
// A field of fixed size behind a string is read from the string's own bytes by
// tera-toolbox, so only inline definitions can have any. Where all of them stand before,
// both dialects have the same text. Then it counts as hoisted, since real packets have
// their pointers first, those of all public inline definitions too.
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

// seen is what was met of a scope.
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

// guess is the fields of a scope that are read by a guess.
type guess struct {
	paths []string
	// first is the first of them, and behind the string, bytes or array that it stands
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

// guessedIn returns what is guessed in the elements of an array with a path.
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

// Guessed tells of the fields that are read by a guess: those of fixed size behind a
// string, bytes or an array of the same scope, where nothing but this says that the
// definition is of the inline dialect. tera-toolbox would write them behind the data,
// and cannot read them there. A [Library] has none of them if its folder is inline.
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

// appendGuessed appends the paths of the fields that are read by a guess, as a member of
// JSON.
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
// have what only its parser knows, and more of them look like it than like the other.
func (l *Library) isInline() bool {
	l.inlineOnce.Do(func() {
		var behind, before, extended int
		for i := range l.used {
			d, err := l.Definition(i)
			if err != nil {
				continue // it says nothing; who uses it is told
			}
			look := looksOf(d)
			if look.extended {
				extended++
			}
			switch look.dialect() {
			case inline:
				behind++
			case hoisted:
				if look.before {
					before++
				}
			}
		}
		l.inline = extended > 0 && behind > before
	})
	return l.inline
}
