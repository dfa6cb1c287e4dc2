package xmlsheet

import (
	"fmt"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/xmltext"
)

// Parser reads a sheet, of any dialect that novadrop-dc would read, node by node:
//
//	p, err := New(file, data)
//	for err == nil {
//		var event Event
//		switch event, err = p.Next(); event {
//		case Begin: … p.Node()
//		case End:   … p.Text()
//		}
//	}
//	io.EOF is the end of the sheet
//
// Names and values are as the data center has them, as WTF-8: the conventions of
// urn:lorefs:dc are undone. Attributes of other namespaces and comments are skipped. Errors
// are an [xmltext.SyntaxError] or an [xmltext.ValueError].
type Parser struct {
	x       *xmltext.Reader
	open    []openNode
	text    []byte // of the open nodes, the outermost first
	done    int    // how much of text belongs to nodes that are still open
	escaped bool   // names are
	node    Node
	index   attributeIndex // of node
	ended   openNode
}

// Event says what a [Parser] met.
type Event uint8

// At a node's Begin its attributes are known, at its End its text. A Whole node was passed over: it has
// neither.
const (
	Begin Event = iota + 1
	End
	Whole
)

// Node is a node that began. Its slices are valid until the next call of [Parser.Next].
type Node struct {
	Name []byte
	// Attributes are in the sheet's order, without __value__.
	Attributes []Attribute
	// Flags are the node's key flags.
	Flags datacenter.KeyFlags
	// Keys is the node's key definition, if HasKeys; else the schema has it.
	Keys    datacenter.KeyDefinition
	HasKeys bool
	// Offset is where the element's name begins, for [Parser.Wrong].
	Offset int
}

// Attribute is an attribute of a [Node].
type Attribute struct {
	Name, Value []byte
	// Type is 0 if the sheet does not state it.
	Type datacenter.Type
	// Offset is where the name begins, for [Parser.Wrong].
	Offset int
}

// openNode is a node between its Begin and its End.
type openNode struct {
	start    int // where its text begins in Parser.text
	at       int // where its text, or else the name of its element, begins in the file
	has      bool
	value    bool // the text is that of dc:value
	escaped  bool // the text is
	children int  // so far
}

// New makes a parser for the bytes of a sheet: UTF-8, or UTF-16 with a byte order mark.
// data must not be changed while it is used. file is the name for errors.
func New(file string, data []byte) (*Parser, error) {
	x, err := xmltext.New(file, data)
	if err != nil {
		return nil, err
	}
	return &Parser{x: x}, nil
}

// Next goes to the next event; io.EOF is the end.
func (p *Parser) Next() (Event, error) {
	p.text = p.text[:p.done]
	for {
		token, err := p.x.Next()
		if err != nil {
			return 0, err
		}
		switch token {
		case xmltext.StartTag:
			return Begin, p.begin()
		case xmltext.EndTag:
			return End, p.end()
		case xmltext.WholeElement:
			err := p.child(&p.open[len(p.open)-1], 0)
			p.done = len(p.text)
			return Whole, err
		}
		if err := p.addText(); err != nil {
			return 0, err
		}
	}
}

// Node returns the node that the last [Begin] began.
func (p *Parser) Node() *Node { return &p.node }

// Recall makes the parser ask known for each start tag of which it can be known what it means, but for
// the first one of a sheet. If known returns its length, the tag is not read: at its Begin, Node returns
// only where it is. If known says that all of the node is known, and returns its length, it becomes one
// event, [Whole].
//
// A start tag must be known by nothing but what Plain returned for it, and a whole node only if
// Plain returned something for all start tags in it. known must take into account where a tag or a
// node stands so far as its caller needs it.
func (p *Parser) Recall(known func(at int) (length int, whole bool)) {
	p.x.Recall = func(at int) (int, bool) {
		if p.escaped || len(p.open) == 0 || p.x.Preserves() {
			return 0, false
		}
		return known(at)
	}
}

// Recalled reports whether the node that the last Begin began was not read.
func (p *Parser) Recalled() bool { return p.x.Recalled }

// Plain returns the bytes of the last Begin's start tag, or nil if what they mean depends
// on the file.
func (p *Parser) Plain() []byte {
	if p.escaped || p.x.Preserves() {
		return nil
	}
	return p.x.Plain()
}

// Shape returns the shape of the last Begin's start tag, for which Plain returned something.
func (p *Parser) Shape() xmltext.Shape { return p.x.NewShape() }

// Text returns the __value__ of the node that the last [End] ended, if ok. It is valid
// until the next call of Next.
func (p *Parser) Text() (text []byte, ok bool) { return p.text[p.ended.start:], p.ended.has }

// TextOffset returns where the text begins, for [Parser.Wrong].
func (p *Parser) TextOffset() int { return p.ended.at }

// IsValue reports whether the text is that of dc:value, not text between the tags.
func (p *Parser) IsValue() bool { return p.ended.value }

// Offset returns where the tag of the last event begins, or the node of a Whole.
func (p *Parser) Offset() int { return p.x.At }

// Behind returns where the tag of the last event ends, or the node of a Whole.
func (p *Parser) Behind() int { return p.x.Behind() }

// Comments reports whether there were comments so far.
func (p *Parser) Comments() bool { return p.x.Comments }

// Data returns the whole sheet as UTF-8, which offsets refer to.
func (p *Parser) Data() []byte { return p.x.Data }

// Errorf returns an [xmltext.SyntaxError] at an offset.
func (p *Parser) Errorf(offset int, format string, args ...any) error {
	return p.x.Errorf(offset, format, args...)
}

// Wrong wraps err in an [xmltext.ValueError] at an offset.
func (p *Parser) Wrong(offset int, where string, err error) error {
	return p.x.Wrap(offset, where, err)
}

func (p *Parser) begin() error {
	if len(p.open) > 0 {
		if err := p.child(&p.open[len(p.open)-1], 1); err != nil {
			return err
		}
	}
	p.open = append(p.open, openNode{start: len(p.text), at: p.x.NameAt()})
	p.node = Node{Attributes: p.node.Attributes[:0], Offset: p.x.NameAt()}
	p.index.made = false
	if p.x.Recalled {
		p.done = len(p.text)
		return nil
	}
	if err := p.conventions(); err != nil {
		return err
	}
	p.done = len(p.text)
	if len(p.node.Attributes) > datacenter.MaxRun { // with a text, there are too many names
		return p.tooMany(p.x.NameAt(), p.x.Element(0), "attributes")
	}
	var err error
	p.node.Name, err = p.name(p.x.Name.Local(), p.x.NameAt())
	return err
}

// child counts a child of n, and drops white space before the first one, which is
// indentation. up is 1 if the child has been begun, or 0.
func (p *Parser) child(n *openNode, up int) error {
	if n.children == 0 && n.has && !n.value && xmltext.IsBlank(p.text[n.start:]) {
		p.text = p.text[:n.start]
		n.has = false
	}
	if n.children++; n.children > datacenter.MaxRun {
		return p.tooMany(p.x.NameAt(), p.x.Element(up), "children")
	}
	return nil
}

// tooMany returns the error for a node with more of something than a data center's can
// have.
func (p *Parser) tooMany(at int, node []byte, what string) error {
	return p.Wrong(at, string(node), fmt.Errorf("more than %d %s: %w", datacenter.MaxRun, what, datacenter.ErrTooLarge))
}

// addText adds a piece of text to the innermost node. White space that is a whole text, or
// lies between elements, is layout.
func (p *Parser) addText() error {
	n := &p.open[len(p.open)-1]
	switch {
	case n.value && p.x.Blank || n.children > 0 && p.x.Blank:
		return nil
	case n.value:
		return p.x.Errorf(p.x.At, "text beside the dc:value of the element")
	}
	if !p.x.Blank && !n.has {
		n.at = p.x.TextAt()
		n.has = true
	}
	p.text = append(p.text, p.x.Text...)
	p.done = len(p.text)
	if n.has && len(p.text)-n.start > xmltext.MaxTextBytes {
		return p.Wrong(n.at, "", xmltext.ErrTooLong)
	}
	return nil
}

func (p *Parser) end() error {
	top := len(p.open) - 1
	p.ended = p.open[top]
	p.open = p.open[:top]
	p.done = p.ended.start
	p.x.Pop()
	switch {
	case p.ended.escaped && !p.ended.has:
		return p.x.Errorf(p.ended.at, "dc:escaped names %s, but the element has no text", spell.ValueName)
	case !p.ended.has:
		return nil
	}
	text := p.text[p.ended.start:]
	if p.ended.escaped {
		plain, err := spell.UnescapeValue(text)
		if err != nil {
			return p.Wrong(p.ended.at, "", err)
		}
		p.text = append(p.text[:p.ended.start], plain...)
		text = p.text[p.ended.start:]
	}
	if len(text) >= xmltext.LongText {
		if _, err := datacenter.StringValue(string(text)); err != nil {
			return p.Wrong(p.ended.at, "", err)
		}
	}
	return nil
}

// name returns a name as the data center has it.
func (p *Parser) name(spelled []byte, at int) ([]byte, error) {
	if !p.escaped && len(spelled) < xmltext.LongName && string(spelled) != spell.RootName {
		return spelled, nil
	}
	name := spelled
	if p.escaped {
		name = spell.UnescapeName(spelled)
	}
	if err := datacenter.CheckName(string(name)); err != nil {
		return nil, p.Wrong(at, "", err)
	}
	return name, nil
}
