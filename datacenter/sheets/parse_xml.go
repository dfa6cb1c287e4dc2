package sheets

import (
	"bytes"
	"fmt"
	"io"

	"lorefs/datacenter"
	"lorefs/internal/shown"
)

// xmlReader reads an XML 1.0 document that lies in memory: start tags, end tags
// and pieces of text. It is strict, knows namespaces, and refuses document types,
// which are how a small file makes a reader do much. encoding/xml makes objects of
// all it reads and takes half a minute for what is packed here in seconds.
type xmlReader struct {
	file     string
	data     []byte // UTF-8
	encoding string
	pos      int

	open      []openElement
	closing   bool // the start tag just read has no content
	comments  bool // there were some
	ended     bool // the document's element has been closed
	spaces    []binding
	spaceAt   map[string]int // the innermost binding of a prefix, if there are more than fewSpaces
	scratch   []byte         // what values with references are decoded into
	maxDepth  int
	sortNames []int32

	// Of a start tag, until next is called again:
	name  xmlName
	attrs []xmlAttr
	at    int // where it begins, and a piece of text, too
	// Of a piece of text:
	text    []byte
	blank   bool // all of it is white space
	literal bool // it is a CDATA section
}

// openElement is an element whose end tag has not been read.
type openElement struct {
	name     []byte
	at       int
	bindings int  // how many prefixes were bound before it
	preserve bool // xml:space is preserve
}

// xmlName is a name with the length of its prefix and colon.
type xmlName struct {
	full   []byte
	prefix int
}

func (n xmlName) local() []byte { return n.full[n.prefix:] }

// space is the prefix without its colon.
func (n xmlName) space() []byte { return n.full[:max(n.prefix-1, 0)] }

// xmlAttr is an attribute. Its value is valid until next is called again.
type xmlAttr struct {
	name     xmlName
	value    []byte
	at, from int // where the name and where the value begins
	hash     uint32
}

// binding is a namespace that a prefix, or no prefix, stands for.
type binding struct {
	prefix []byte
	uri    string
	before int // the place of the one that it hides, -1 for none
}

type token uint8

const (
	startTag token = iota + 1
	endTag
	textPiece
)

// newXMLReader makes a reader for a file, of which the name is used in errors only.
// data must not be changed as long as the reader is used.
func newXMLReader(file string, data []byte) (*xmlReader, error) {
	x := &xmlReader{file: file, maxDepth: datacenter.MaxDepth}
	x.data, x.encoding = decode(data)
	if x.encoding == "utf-16" && len(data)%2 != 0 {
		return nil, x.errorf(len(x.data), "the file ends within a character: UTF-16 has two bytes for each")
	}
	if off, what, bad := badCharacter(x.data); bad {
		return nil, x.errorf(off, "%s", what)
	}
	return x, x.declaration()
}

func (x *xmlReader) errorf(at int, format string, args ...any) error {
	line, column := place(x.data, at)
	return &SyntaxError{File: x.file, Line: line, Column: column, What: fmt.Sprintf(format, args...)}
}

// next goes on to the next token; io.EOF is at the end of the document.
func (x *xmlReader) next() (token, error) {
	x.scratch = x.scratch[:0]
	if x.closing {
		x.closing = false
		return endTag, nil
	}
	for x.pos < len(x.data) {
		if x.data[x.pos] != '<' {
			if skipped, err := x.piece(); err != nil || !skipped {
				return textPiece, err
			}
			continue
		}
		x.at = x.pos
		rest := x.data[x.pos:]
		switch {
		case len(rest) < 2:
			return 0, x.errorf(len(x.data), "the file ends in a tag")
		case rest[1] == '/':
			return endTag, x.endTag()
		case rest[1] == '?':
			if err := x.instruction(); err != nil {
				return 0, err
			}
		case rest[1] != '!':
			return startTag, x.startTag()
		case bytes.HasPrefix(rest, []byte("<!--")):
			if err := x.comment(); err != nil {
				return 0, err
			}
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			return textPiece, x.section()
		case bytes.HasPrefix(rest, []byte("<!DOCTYPE")):
			return 0, x.errorf(x.pos, "a document type: those are refused, for what they may make of a file")
		default:
			return 0, x.errorf(x.pos, "<! begins neither a comment nor a CDATA section")
		}
	}
	switch {
	case len(x.open) > 0:
		e := x.open[len(x.open)-1]
		line, _ := place(x.data, e.at)
		return 0, x.errorf(len(x.data), "the file ends in the element %s of line %d", shown.Quote(e.name), line)
	case !x.ended:
		return 0, x.errorf(len(x.data), "the file has no element")
	}
	return 0, io.EOF
}

// pop is to be called when an end tag has been dealt with.
func (x *xmlReader) pop() {
	top := x.open[len(x.open)-1]
	x.unbind(top.bindings)
	x.open = x.open[:len(x.open)-1]
	x.ended = len(x.open) == 0
}

// endTag reads an end tag, which must be that of the innermost element.
func (x *xmlReader) endTag() error {
	if len(x.open) == 0 {
		return x.errorf(x.pos, "an end tag, but no element is open")
	}
	x.pos += len("</")
	name := x.open[len(x.open)-1].name
	if !bytes.HasPrefix(x.data[x.pos:], name) {
		return x.wrongEnd()
	}
	x.pos += len(name)
	if x.pos < len(x.data) && class[x.data[x.pos]]&isNameChar != 0 {
		return x.wrongEnd()
	}
	x.skipSpace()
	if x.pos == len(x.data) || x.data[x.pos] != '>' {
		return x.errorf(x.pos, "want > at the end of the end tag")
	}
	x.pos++
	return nil
}

// longEndTag is how long a name is that an error does not spell as an end tag.
const longEndTag = 100

func (x *xmlReader) wrongEnd() error {
	e := x.open[len(x.open)-1]
	line, _ := place(x.data, e.at)
	if len(e.name) > longEndTag {
		return x.errorf(x.at, "want the end tag of %s, the element of line %d", shown.Quote(e.name), line)
	}
	return x.errorf(x.at, "want </%s>, for the element of line %d", e.name, line)
}

// comment skips a comment.
func (x *xmlReader) comment() error {
	start := x.pos + len("<!--")
	n := bytes.Index(x.data[start:], []byte("--"))
	if n < 0 {
		return x.errorf(x.pos, "the comment has no end")
	}
	end := start + n
	if !bytes.HasPrefix(x.data[end:], []byte("-->")) {
		return x.errorf(end, "-- in a comment")
	}
	x.pos, x.comments = end+len("-->"), true
	return x.noControls(start, end)
}

// instruction skips a processing instruction.
func (x *xmlReader) instruction() error {
	start := x.pos + len("<?")
	n := bytes.Index(x.data[start:], []byte("?>"))
	if n < 0 {
		return x.errorf(x.pos, "the processing instruction has no end")
	}
	x.pos = start
	name, err := x.readName("a processing instruction")
	if err != nil {
		return err
	}
	if bytes.EqualFold(name.full, []byte("xml")) {
		return x.errorf(x.at, "an XML declaration that is not at the start of the file")
	}
	x.pos = start + n + len("?>")
	return x.noControls(start, start+n)
}

// noControls refuses control characters in what is skipped.
func (x *xmlReader) noControls(from, to int) error {
	for i, c := range x.data[from:to] {
		if c < ' ' && class[c]&isSpace == 0 {
			return x.badControl(from + i)
		}
	}
	return nil
}

func (x *xmlReader) badControl(at int) error {
	return x.errorf(at, "the control character U+%04X is no character of XML", x.data[at])
}

func (x *xmlReader) skipSpace() {
	for x.pos < len(x.data) && class[x.data[x.pos]]&isSpace != 0 {
		x.pos++
	}
}
