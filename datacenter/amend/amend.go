package amend

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/patch"
	"lorefs/datacenter/query"
)

// Operation says what becomes of each match of a query.
type Operation interface {
	// amend adds what becomes of a match to a patch. It is false if the match is as it should be.
	amend(m *maker, at *query.Match) (changed bool, err error)
}

// Counts says what became of the matches: Changed are in the patch, Same are as they should be already.
type Counts struct {
	Changed int `json:"changed"`
	Same    int `json:"same"`
}

// RefusedError means that an operation can't be done to some matches. Count says to how many, Path is
// the first of them below tree/, and Err says why not.
type RefusedError struct {
	Path  string
	Count int
	Err   error
}

func (e *RefusedError) Error() string {
	text := fmt.Sprintf("%s: %v", e.Path, e.Err)
	if e.Count > 1 {
		text += fmt.Sprintf(", and %d more", e.Count-1)
	}
	return text
}

func (e *RefusedError) Unwrap() error { return e.Err }

// Make returns the patch that does an operation to all that a query finds in f. An error is a
// [RefusedError], or one of f or ctx.
func Make(ctx context.Context, f *datacenter.File, q *query.Query, do Operation) (*patch.Patch, Counts, error) {
	m := &maker{ctx: ctx, file: f, patch: &patch.Patch{}}
	refused := &RefusedError{}
	for match, err := range q.Run(ctx, f) {
		if err != nil {
			return nil, Counts{}, err
		}
		changed, err := do.amend(m, &match)
		switch {
		case errors.Is(err, errRefused), errors.Is(err, datacenter.ErrValue), errors.Is(err, datacenter.ErrTooLarge):
			if refused.Count++; refused.Err == nil {
				refused.Path, refused.Err = match.Path, err
			}
		case err != nil:
			return nil, Counts{}, fmt.Errorf("%s: %w", match.Path, err)
		case changed:
			m.counts.Changed++
		default:
			m.counts.Same++
		}
	}
	if refused.Err != nil {
		return nil, Counts{}, refused
	}
	return m.patch, m.counts, nil
}

// maker makes a patch.
type maker struct {
	ctx    context.Context
	file   *datacenter.File
	patch  *patch.Patch
	counts Counts
}

// errRefused means that an operation can't be done to a match.
var errRefused = errors.New("can't be done")

// refusal is an error about a match, and is errRefused.
type refusal string

func (r refusal) Error() string { return string(r) }

func (r refusal) Is(target error) bool { return target == errRefused }

// refuse returns an error about a match.
func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// place returns the path of the node of a match by its place.
func place(at *query.Match) patch.Path {
	return patch.Path{Text: string(query.AppendPlain(nil, at.Steps)), Steps: at.Steps}
}

// line adds a change of an attribute. Attributes of one node come one after the other.
func (m *maker) line(at *query.Match, l patch.Line) {
	path, blocks := place(at), m.patch.Blocks
	if n := len(blocks); n > 0 && blocks[n-1].Kind == patch.Change && blocks[n-1].Path.Text == path.Text {
		blocks[n-1].Lines = append(blocks[n-1].Lines, l)
		return
	}
	m.patch.Blocks = append(blocks, patch.Block{Path: path, Lines: []patch.Line{l}})
}

// values is an operation that gives attributes other values.
type values func(old datacenter.Value) (datacenter.Value, error)

func (v values) amend(m *maker, at *query.Match) (bool, error) {
	old, err := valueOf(at)
	if err != nil {
		return false, err
	}
	next, err := v(old)
	if err != nil || next == old {
		return false, err
	}
	m.line(at, patch.Line{
		Name: at.Attribute.Name(), Old: patch.Value{Attribute: old}, New: patch.Value{Attribute: next},
	})
	return true, nil
}

// valueOf returns the value of the attribute that was found.
func valueOf(at *query.Match) (datacenter.Value, error) {
	if at.Kind != query.Attribute {
		return datacenter.Value{}, refuse("this is a node: end the expression with /@NAME, or with /text()")
	}
	text, err := at.Attribute.AppendText(nil)
	if err != nil {
		return datacenter.Value{}, err
	}
	if t := at.Attribute.Type(); t != datacenter.String {
		return datacenter.BitsValue(t, at.Attribute.Bits()), nil
	}
	return datacenter.StringValue(string(text))
}

// Set gives all attributes the value that a text stands for, in the type of each.
func Set(text string) Operation {
	return values(func(old datacenter.Value) (datacenter.Value, error) {
		return datacenter.ParseValue(old.Type(), text)
	})
}

// Replace replaces a part of texts wherever it stands in them.
func Replace(old, next string) Operation {
	return values(func(v datacenter.Value) (datacenter.Value, error) {
		if v.Type() != datacenter.String {
			return v, refuse("%s %s is no string", v.Type(), v.Text())
		}
		return datacenter.StringValue(strings.ReplaceAll(v.Text(), old, next))
	})
}

// Unset removes attributes.
func Unset() Operation { return unset{} }

type unset struct{}

func (unset) amend(m *maker, at *query.Match) (bool, error) {
	old, err := valueOf(at)
	if err != nil {
		return false, err
	}
	m.line(at, patch.Line{Name: at.Attribute.Name(), Old: patch.Value{Attribute: old}})
	return true, nil
}

// Remove removes nodes with all below them. What is below a removed node is removed with it.
func Remove() Operation { return &remove{} }

// remove has the path of the node that was removed last.
type remove struct{ below string }

func (r *remove) amend(m *maker, at *query.Match) (bool, error) {
	if at.Kind != query.Node {
		return false, refuse("this is an attribute, which unset removes")
	}
	path := place(at)
	if r.below != "" && strings.HasPrefix(path.Text, r.below) {
		return false, nil
	}
	r.below = path.Text + "/"
	e, err := patch.ElementOf(m.ctx, m.file, at.Node)
	if err != nil {
		return false, err
	}
	m.patch.Blocks = append(m.patch.Blocks, patch.Block{Kind: patch.Remove, Path: path, Node: e})
	return true, nil
}
