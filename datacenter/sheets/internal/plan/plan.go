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
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/shown"
)

// Options are the options of Make. The zero value is right for most uses.
type Options struct {
	// Schema has types and keys that the data center does not have, for example from an XSD
	// beside the sheet. Default: they are inferred from the text.
	Schema *xsd.Schema
}

// Plan has the edits that make a sheet equal to a text.
type Plan struct {
	// Edits are the edits for [edit.Draft.Apply]; there are none if sheet and text are
	// equal.
	Edits []edit.Edit
	// Comments and Spellings say that the text has something that is not stored: comments,
	// or numbers in another spelling than a sheet's.
	Comments, Spellings bool
}

// Base is the data center of the plan. Neither the draft nor the sheet may change meanwhile.
type Base struct {
	Draft *edit.Draft
	File  *datacenter.File
	Names *vocab.Vocabulary
	// Known returns the type of the sheets of the name, or nil if there are none yet. Most
	// plans never call it.
	Known func() *xsd.ElementType
}

// Target is the sheet that is to become equal to the text. It has no Number if it is new.
type Target struct {
	Number  edit.Number
	Name    string
	Ordinal uint32
	// Addr is its place in the file, if it has one.
	Addr datacenter.Address
	// Removed says that the sheet was removed, and comes back.
	Removed bool
}

// Make computes the edits that make a sheet of the draft equal to a text, as the documentation
// of sheets.Source.Plan tells.
func Make(ctx context.Context, base Base, sheet Target, file string, data []byte, opts Options) (Plan, error) {
	parser, err := xmlsheet.New(file, data)
	if err != nil {
		return Plan{}, err
	}
	p := &planner{
		ctx: ctx, known: sync.OnceValue(base.Known), draft: base.Draft, file: base.File.Private(datacenter.MostPrivate), parser: parser, sheet: sheet,
		xsd: opts.Schema, names: planNames{of: base.Names.ByText(), voc: base.Names},
	}
	p.saved = sync.OnceValue(p.draft.Saved)
	p.contents = identity.NewContents(tree{p})
	defer p.file.Forget()
	root := oldNode{}
	if sheet.Number != 0 {
		if root, err = p.oldNode(sheet.Number, sheet.Addr, sheet.Removed); err != nil {
			return Plan{}, err
		}
	}
	if err := p.read(root); err != nil {
		return Plan{}, err
	}
	top := p.ref(0)
	p.path = append(p.path, p.nodes[0].name)
	if sheet.Removed {
		p.restore(root, 0)
	}
	if sheet.Number == 0 {
		err = p.add(slot{ordinal: sheet.Ordinal}, top, p.typesHere())
	} else {
		err = p.diff(root, top)
	}
	if err != nil {
		return Plan{}, err
	}
	// Removals come first, since the number of attributes and children of a node is limited.
	edits := slices.Concat(p.removals, p.restored, p.below, p.edits)
	return Plan{Edits: edits, Comments: parser.Comments(), Spellings: p.respelled}, nil
}

// remove adds an edit that removes something of a node, or a node with everything below it.
func (p *planner) remove(of oldNode, e edit.Edit) {
	if of.removed {
		p.below = append(p.below, e)
	} else {
		p.removals = append(p.removals, e)
	}
}

// restore adds the edit that brings back a removed child of parent.
func (p *planner) restore(o oldNode, parent edit.Number) {
	p.restored = append(p.restored, edit.Edit{Op: edit.RestoreNode, Node: o.number, Parent: parent})
}

// planner makes a plan. It first reads the text, compares it with the sheet, and keeps only
// the place of parts that are equal. Then it compares the rest.
type planner struct {
	ctx   context.Context
	draft *edit.Draft
	// saved has what was removed.
	saved  func() *edit.Reader
	file   *datacenter.Private
	parser *xmlsheet.Parser
	sheet  Target
	known  func() *xsd.ElementType
	xsd    *xsd.Schema
	names  planNames

	// The nodes of the text, see newNode.
	nodes []newNode
	attrs []newAttr
	kids  []int32 // indexes of nodes
	keys  []datacenter.KeyDefinition
	bytes []byte // values

	// The nodes of the text that are open.
	frames  []planFrame
	pending []int32 // the children of open nodes
	beside  []oldKid
	groups  []kidGroup

	// path is the path of the current node, with the sheet's name.
	path   []vocab.NameID
	survey *textTypes
	// contents are hashes of the nodes that are matched.
	contents *identity.Contents[newRef]
	scratch  []byte
	same     []vocab.Attribute
	steps    int
	// restored are the edits that bring back removed nodes, and below the removals in these nodes.
	removals, restored, below, edits []edit.Edit
	// respelled says that the text spells a number differently than a sheet does.
	respelled bool
}

// check ends long work if the context has ended.
func (p *planner) check() error {
	const some = 1 << 12
	if p.steps++; p.steps%some == 0 {
		return p.ctx.Err()
	}
	return nil
}

// read reads the text, and compares it with the sheet, if there is one.
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

// wrongName returns the error for a text with the root element of another sheet.
func (p *planner) wrongName(n *xmlsheet.Node) error {
	return p.parser.Errorf(n.Offset, "the element %s: want %s, as the file is one of its sheets", shown.Quote(n.Name), shown.Quote(p.sheet.Name))
}
