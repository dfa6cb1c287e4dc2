package sheets

import "lorefs/datacenter"

// Parser reads a sheet, of any dialect that novadrop-dc would read, node by node:
//
//	p, err := NewParser(file, data)
//	for err == nil {
//		var event Event
//		switch event, err = p.Next(); event {
//		case Begin: … p.Node()
//		case End:   … p.Text()
//		}
//	}
//	io.EOF is the end of the sheet
//
// Names and values are as the data center has them, as WTF-8: what the package
// documentation says of urn:lorefs:dc is undone. Attributes of other namespaces and
// comments are not told of. Errors are a [SyntaxError] or a [ValueError].
type Parser struct {
	x       *xmlReader
	open    []openNode
	text    []byte // of the open nodes, the outermost first
	done    int    // how much of text is that of nodes that are still open
	escaped bool   // names are
	node    Node
	index   attributeIndex // of node
	ended   openNode
}

// Event is what a [Parser] met.
type Event uint8

// A node begins with its attributes; at its end its text is known.
const (
	Begin Event = iota + 1
	End
)

// Node is a node that began. What its slices hold is valid until the next call of
// [Parser.Next].
type Node struct {
	// Name is that of the node.
	Name []byte
	// Attributes are in the sheet's order, without __value__.
	Attributes []Attribute
	// Flags are the node's key flags.
	Flags datacenter.KeyFlags
	// Keys is the node's key definition, if HasKeys; else the schema knows it.
	Keys    datacenter.KeyDefinition
	HasKeys bool
	// Offset is where the element begins, for [Parser.Wrong].
	Offset int
}

// Attribute is an attribute of a [Node].
type Attribute struct {
	Name, Value []byte
	// Type is 0 if the sheet does not say it.
	Type datacenter.Type
	// Offset is where the value begins, for [Parser.Wrong].
	Offset int
}

// openNode is a node between its Begin and its End.
type openNode struct {
	start    int // where its text begins in Parser.text
	at       int // where its text, or else its element, begins in the file
	has      bool
	value    bool // the text is that of dc:value
	escaped  bool // the text is
	children int  // so far
}

// NewParser makes a parser for the bytes of a sheet, which must not be changed as long
// as it is used: UTF-8, or UTF-16 with a byte order mark. The name of the file is
// for errors.
func NewParser(file string, data []byte) (*Parser, error) {
	x, err := newXMLReader(file, data)
	if err != nil {
		return nil, err
	}
	return &Parser{x: x}, nil
}

// Next goes on to the next event; io.EOF is the end.
func (p *Parser) Next() (Event, error) {
	p.text = p.text[:p.done]
	for {
		token, err := p.x.next()
		if err != nil {
			return 0, err
		}
		switch token {
		case startTag:
			return Begin, p.begin()
		case endTag:
			return End, p.end()
		}
		if err := p.addText(); err != nil {
			return 0, err
		}
	}
}

// Node is the node that the last [Begin] began.
func (p *Parser) Node() *Node { return &p.node }

// Text is the __value__ of the node that the last [End] ended, if ok. It is valid until
// the next call of Next.
func (p *Parser) Text() (text []byte, ok bool) { return p.text[p.ended.start:], p.ended.has }

// TextOffset is where the text begins, for [Parser.Wrong].
func (p *Parser) TextOffset() int { return p.ended.at }

// Wrong makes err, of something at an offset, a [ValueError].
func (p *Parser) Wrong(offset int, where string, err error) error {
	return p.x.wrap(offset, where, err)
}

func (p *Parser) begin() error {
	if len(p.open) > 0 {
		if err := p.child(&p.open[len(p.open)-1]); err != nil {
			return err
		}
	}
	p.open = append(p.open, openNode{start: len(p.text), at: p.x.at})
	p.node = Node{Attributes: p.node.Attributes[:0], Offset: p.x.at}
	p.index.made = false
	if err := p.conventions(); err != nil {
		return err
	}
	p.done = len(p.text)
	if len(p.node.Attributes) > maxRun { // with a text, there are too many names
		return p.tooMany(p.x.at, p.x.open[len(p.x.open)-1].name, "attributes")
	}
	var err error
	p.node.Name, err = p.name(p.x.name.local(), p.x.at)
	return err
}

// child counts a child of n, and drops white space before the first one: it is
// indentation.
func (p *Parser) child(n *openNode) error {
	if n.children == 0 && n.has && !n.value && isBlank(p.text[n.start:]) {
		p.text = p.text[:n.start]
		n.has = false
	}
	if n.children++; n.children > maxRun {
		return p.tooMany(p.x.at, p.x.open[len(p.x.open)-2].name, "children")
	}
	return nil
}

// tooMany is the error of a node that has more of something than a data center's can.
func (p *Parser) tooMany(at int, node []byte, what string) error {
	return p.Wrong(at, string(node), wrapf(datacenter.ErrTooLarge, "more than %d %s", maxRun, what))
}

// addText adds a piece of text to the innermost node. White space that is all of
// a text, or lies between elements, is how the file is laid out.
func (p *Parser) addText() error {
	n := &p.open[len(p.open)-1]
	switch {
	case n.value && p.x.blank || n.children > 0 && p.x.blank:
		return nil
	case n.value:
		return p.x.errorf(p.x.at, "text beside the dc:value of the element")
	}
	if !p.x.blank && !n.has {
		n.at = p.x.at
		n.has = true
	}
	p.text = append(p.text, p.x.text...)
	p.done = len(p.text)
	if n.has && len(p.text)-n.start > maxTextBytes {
		return p.Wrong(n.at, "", errTooLong)
	}
	return nil
}

func (p *Parser) end() error {
	top := len(p.open) - 1
	p.ended = p.open[top]
	p.open = p.open[:top]
	p.done = p.ended.start
	p.x.pop()
	switch {
	case p.ended.escaped && !p.ended.has:
		return p.x.errorf(p.ended.at, "dc:escaped names %s, but the element has no text", valueName)
	case !p.ended.has:
		return nil
	}
	text := p.text[p.ended.start:]
	if p.ended.escaped {
		plain, err := unescapeValue(text)
		if err != nil {
			return p.Wrong(p.ended.at, "", err)
		}
		p.text = append(p.text[:p.ended.start], plain...)
		text = p.text[p.ended.start:]
	}
	if len(text) >= longText {
		if _, err := datacenter.StringValue(string(text)); err != nil {
			return p.Wrong(p.ended.at, "", err)
		}
	}
	return nil
}

const (
	// A text of fewer bytes than longText, and a name of fewer than longName, is not
	// too long for a data center.
	longText = 1 << 20
	longName = 1 << 15
	// maxTextBytes is how many bytes the longest text has that a data center can hold.
	maxTextBytes = 3 * longText
	// maxSpelled is how many bytes it takes to spell it: a character by its number takes 8.
	// What is longer is refused before it is copied.
	maxSpelled = 8 * longText
	// maxSpelledName is that of a name, of which each character may be escaped.
	maxSpelledName = 8 * longName * 2
)

// errTooLong is the error of a text that is not even looked at.
var errTooLong = wrapf(datacenter.ErrTooLarge, "a text of %d characters or more", longText)

// name is a name as the data center has it.
func (p *Parser) name(spelled []byte, at int) ([]byte, error) {
	if !p.escaped && len(spelled) < longName && string(spelled) != rootName {
		return spelled, nil
	}
	name := spelled
	if p.escaped {
		name = unescapeName(spelled)
	}
	if err := datacenter.CheckName(string(name)); err != nil {
		return nil, p.Wrong(at, "", err)
	}
	return name, nil
}

const (
	rootName  = "__root__"
	valueName = "__value__"
)
