package plan

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/xmlsheet"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/shown"
)

// Options are what Plan may be told. The zero value is right.
type Options struct {
	// Schema gives types and keys for what the data center does not know, such as that
	// of an XSD beside the sheet. Default: they are made out from the text.
	Schema *xsd.Schema
}

// Plan is what makes a sheet equal to a text.
type Plan struct {
	// Edits are for [edit.Draft.Apply], none if they are equal already.
	Edits []edit.Edit
	// Comments and Spellings tell that the text has what is not stored: comments, and
	// numbers that a sheet spells otherwise.
	Comments, Spellings bool
}

// Base is the data center that is planned for. Neither the draft nor the sheet may be
// changed meanwhile.
type Base struct {
	Draft *edit.Draft
	File  *datacenter.File
	Names *vocab.Vocabulary
	// Known is what is known of the sheets of the name, nil if there are none yet. Most
	// plans never ask.
	Known func() *xsd.ElementType
}

// Target is the sheet that is to be as the text says. Without Number it is one that is
// to be made.
type Target struct {
	Number  edit.Number
	Name    string
	Ordinal uint32
	// Addr is where the file has it, if it does.
	Addr datacenter.Address
}

// Make finds out what makes a sheet of the draft equal to a text. The name of the file is
// for errors, and data must not be changed meanwhile. Nor must the draft: whoever
// applies the edits has to see to that.
//
// The element of the text has to be called like the sheet.
//
// What belongs together is told by equality, by keys, by an id that no two have, or
// by the place, so that all that stays keeps its number, its place among its
// siblings, and what it shares. The order of attributes, and that of children of
// different names, means nothing. Nor does the spelling of a number.
//
// An attribute that is there keeps its type, unless dc:types has another one. A new one
// has that of its path in the sheets of the name, else that of opts.Schema, else the
// one that suits the values that it has on its path in the text. Likewise with keys:
// a node that is there keeps them, unless it has dc:keys.
//
// Errors of the text are an [xmltext.SyntaxError] or an [xmltext.ValueError].
func Make(ctx context.Context, base Base, sheet Target, file string, data []byte, opts Options) (Plan, error) {
	parser, err := xmlsheet.New(file, data)
	if err != nil {
		return Plan{}, err
	}
	p := &planner{
		ctx: ctx, known: sync.OnceValue(base.Known), draft: base.Draft, file: base.File.Private(datacenter.MostPrivate), parser: parser, sheet: sheet,
		xsd: opts.Schema, names: planNames{of: base.Names.ByText(), voc: base.Names},
	}
	p.contents = identity.NewContents(tree{p})
	defer p.file.Forget()
	root := oldNode{}
	if sheet.Number != 0 {
		if root, err = p.oldNode(sheet.Number, sheet.Addr); err != nil {
			return Plan{}, err
		}
	}
	if err := p.read(root); err != nil {
		return Plan{}, err
	}
	top := p.ref(0)
	p.path = append(p.path, p.nodes[0].name)
	if sheet.Number == 0 {
		err = p.add(slot{ordinal: sheet.Ordinal}, top, p.typesHere())
	} else {
		err = p.diff(root, top)
	}
	if err != nil {
		return Plan{}, err
	}
	return Plan{Edits: removalsFirst(p.edits), Comments: parser.Comments(), Spellings: p.respelled}, nil
}

// removalsFirst makes room before it is needed: a node can have no more than so many
// attributes and children.
func removalsFirst(edits []edit.Edit) []edit.Edit {
	removes := func(e edit.Edit) bool {
		return e.Op == edit.RemoveAttribute || e.Op == edit.RemoveNode
	}
	if !slices.ContainsFunc(edits, removes) {
		return edits
	}
	slices.SortStableFunc(edits, func(a, b edit.Edit) int {
		switch {
		case removes(a) && !removes(b):
			return -1
		case removes(b) && !removes(a):
			return 1
		}
		return 0
	})
	return edits
}

// planner makes a plan. It goes through the text once, beside the sheet as it is: of
// what is equal on both sides it keeps no more than where that is. Then it goes
// through what is left.
type planner struct {
	ctx    context.Context
	draft  *edit.Draft
	file   *datacenter.Private
	parser *xmlsheet.Parser
	sheet  Target
	known  func() *xsd.ElementType
	xsd    *xsd.Schema
	names  planNames

	// What the text holds, see newNode.
	nodes []newNode
	attrs []newAttr
	kids  []int32 // places in nodes
	keys  []datacenter.KeyDefinition
	bytes []byte // values

	// Of the nodes of the text that are open.
	frames  []planFrame
	pending []int32 // their children
	beside  []oldKid
	groups  []kidGroup

	// path is that of the node at hand, with the sheet's name.
	path   []vocab.NameID
	survey *textTypes
	// contents are of what is compared with what.
	contents *identity.Contents[newRef]
	scratch  []byte
	same     []vocab.Attribute
	entries  []edit.Entry
	steps    int
	edits    []edit.Edit
	// respelled tells that the text spells a number otherwise than a sheet does.
	respelled bool
}

// check ends long work if nobody waits for it any more.
func (p *planner) check() error {
	const some = 1 << 12
	if p.steps++; p.steps%some == 0 {
		return p.ctx.Err()
	}
	return nil
}

// read reads the text, and compares it with a sheet, if there is one.
func (p *planner) read(root oldNode) error {
	for {
		event, err := p.parser.Next()
		if err == nil {
			err = p.check()
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case event == xmlsheet.Begin && len(p.frames) == 0:
			err = p.begin(root)
		case event == xmlsheet.Begin:
			err = p.beginChild()
		default:
			err = p.end()
		}
		if err != nil {
			return err
		}
	}
}

// wrongName is the error of a text that is that of another sheet.
func (p *planner) wrongName(n *xmlsheet.Node) error {
	return p.parser.Errorf(n.Offset, "the element %s: want %s, as the file is one of its sheets", shown.Quote(n.Name), shown.Quote(p.sheet.Name))
}
