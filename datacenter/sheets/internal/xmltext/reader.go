package xmltext

import (
	"bytes"
	"fmt"
	"io"

	"lorefs/datacenter"
	"lorefs/internal/shown"
)

// Reader reads an XML 1.0 document in memory: start tags, end tags and pieces of text.
// encoding/xml is less strict, allocates objects for all it reads, and takes half a minute
// for what is packed here in seconds.
type Reader struct {
	// Data is the document as UTF-8. Offsets refer to it.
	Data []byte
	// MaxDepth is how deep elements may nest.
	MaxDepth int
	// Comments is set if there were some so far.
	Comments bool
	// Recall is asked, if it is set, for the start tag at an offset. If it is known, Recall returns
	// its length, and it is not read again: the token has its name, but no attributes. It must
	// be one that [Reader.Plain] returned. If all of the element is known, Recall returns the
	// length of that, and it is passed over. It must be one that was read where [Reader.Preserves]
	// is false, as were all start tags in it, and Plain returned these.
	Recall func(at int) (length int, whole bool)
	// Recalled is set if the last start tag was known.
	Recalled bool

	// At is where the tag or the piece of text of the last token begins.
	At int
	// Name and Attrs are those of a start tag, until Next is called again.
	Name  Name
	Attrs []Attr
	// Text is a piece of text, until Next is called again. Blank is set if all of it is
	// white space.
	Text  []byte
	Blank bool

	file      string
	encoding  string
	pos       int
	open      []openElement
	closing   bool // the start tag just read has no content
	ended     bool // the document's element has been closed
	literal   bool // the piece of text is a CDATA section
	spaces    []binding
	spaceAt   map[string]int // the innermost binding of a prefix, if there are more than fewSpaces
	scratch   []byte         // what values with references are decoded into
	sortNames []int32
}

// Depth returns how many elements are open, including that of the last token.
func (x *Reader) Depth() int { return len(x.open) }

// NameAt returns where the name of the last start tag begins.
func (x *Reader) NameAt() int { return x.At + len("<") }

// TextAt returns where the first letter of the last piece of text is: behind white space,
// unless there is nothing else.
func (x *Reader) TextAt() int {
	if IsBlank(x.Text) {
		return x.At
	}
	return len(x.Data) - len(bytes.TrimLeft(x.Data[x.At:], " \t\r\n"))
}

// Behind returns where the last start tag, end tag or whole element ends.
func (x *Reader) Behind() int { return x.pos }

// Preserves reports whether white space counts in the innermost element.
func (x *Reader) Preserves() bool { return len(x.open) > 0 && x.open[len(x.open)-1].preserve }

// Element returns the name of an open element: 0 is the innermost one, 1 the one around it.
func (x *Reader) Element(up int) []byte { return x.open[len(x.open)-1-up].name }

// openElement is an element whose end tag has not been read.
type openElement struct {
	name     []byte
	at       int
	bindings int  // how many prefixes were bound before it
	preserve bool // xml:space is preserve
}

// Name is a name with the length of its prefix and colon.
type Name struct {
	Full   []byte
	Prefix int
}

// Local returns the name without its prefix.
func (n Name) Local() []byte { return n.Full[n.Prefix:] }

// space returns the prefix without its colon.
func (n Name) space() []byte { return n.Full[:max(n.Prefix-1, 0)] }

// Attr is an attribute. Its value is valid until Next is called again.
type Attr struct {
	Name  Name
	Value []byte
	// At is where the name begins, From where the value does.
	At, From int

	hash uint32
}

// binding is a namespace for a prefix, or for no prefix.
type binding struct {
	prefix []byte
	uri    string
	before int // the place of the one that it hides, -1 for none
}

// Token says what a [Reader] met.
type Token uint8

// A start tag comes with its attributes. An element without content has an end tag, too.
// After an end tag, [Reader.Pop] closes the element.
const (
	StartTag Token = iota + 1
	EndTag
	TextPiece
	WholeElement // it was passed over
)

// New makes a reader for a file, whose name is used only in errors. data must not be
// changed while the reader is used.
func New(file string, data []byte) (*Reader, error) {
	x := &Reader{file: file, MaxDepth: datacenter.MaxDepth}
	x.Data, x.encoding = decode(data)
	if x.encoding == "utf-16" && len(data)%2 != 0 {
		return nil, x.Errorf(len(x.Data), "the file ends within a character: UTF-16 has two bytes for each")
	}
	off, what, bad := badCharacter(x.Data)
	if err := x.declaration(); err != nil || !bad {
		return x, err // which encoding it is says more than what is wrong with it
	}
	return nil, x.Errorf(off, "%s", what)
}

// Errorf returns a [SyntaxError] at an offset.
func (x *Reader) Errorf(at int, format string, args ...any) error {
	line, column := Place(x.Data, at)
	return &SyntaxError{File: x.file, Line: line, Column: column, What: fmt.Sprintf(format, args...)}
}

// Next goes to the next token; io.EOF is the end of the document.
func (x *Reader) Next() (Token, error) {
	x.scratch = x.scratch[:0]
	if x.closing {
		x.closing = false
		return EndTag, nil
	}
	for x.pos < len(x.Data) {
		if x.Data[x.pos] != '<' {
			if skipped, err := x.piece(); err != nil || !skipped {
				return TextPiece, err
			}
			continue
		}
		x.At = x.pos
		rest := x.Data[x.pos:]
		switch {
		case len(rest) < 2:
			return 0, x.Errorf(len(x.Data), "the file ends in a tag")
		case rest[1] == '/':
			return EndTag, x.endTag()
		case rest[1] == '?':
			if err := x.instruction(); err != nil {
				return 0, err
			}
		case rest[1] != '!':
			return x.startTag()
		case bytes.HasPrefix(rest, []byte("<!--")):
			if err := x.comment(); err != nil {
				return 0, err
			}
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			return TextPiece, x.section()
		case bytes.HasPrefix(rest, []byte("<!DOCTYPE")):
			return 0, x.Errorf(x.pos, "a document type: those are refused, for what they may make of a file")
		default:
			return 0, x.Errorf(x.pos, "<! begins neither a comment nor a CDATA section")
		}
	}
	switch {
	case len(x.open) > 0:
		e := x.open[len(x.open)-1]
		line, _ := Place(x.Data, e.at)
		return 0, x.Errorf(len(x.Data), "the file ends in the element %s of line %d", shown.Quote(e.name), line)
	case !x.ended:
		return 0, x.Errorf(len(x.Data), "the file has no element")
	}
	return 0, io.EOF
}

// Pop must be called after an end tag has been handled.
func (x *Reader) Pop() {
	top := x.open[len(x.open)-1]
	x.unbind(top.bindings)
	x.open = x.open[:len(x.open)-1]
	x.ended = len(x.open) == 0
}

// endTag reads an end tag, which must be that of the innermost element.
func (x *Reader) endTag() error {
	if len(x.open) == 0 {
		return x.Errorf(x.pos, "an end tag, but no element is open")
	}
	x.pos += len("</")
	name := x.open[len(x.open)-1].name
	if !bytes.HasPrefix(x.Data[x.pos:], name) {
		return x.wrongEnd()
	}
	x.pos += len(name)
	if x.pos < len(x.Data) && class[x.Data[x.pos]]&isNameChar != 0 {
		return x.wrongEnd()
	}
	x.skipSpace()
	if x.pos == len(x.Data) || x.Data[x.pos] != '>' {
		return x.Errorf(x.pos, "want > at the end of the end tag")
	}
	x.pos++
	return nil
}

// longEndTag is the length above which an error does not print a name as an end tag.
const longEndTag = 100

func (x *Reader) wrongEnd() error {
	e := x.open[len(x.open)-1]
	line, _ := Place(x.Data, e.at)
	if len(e.name) > longEndTag {
		return x.Errorf(x.At, "want the end tag of %s, the element of line %d", shown.Quote(e.name), line)
	}
	return x.Errorf(x.At, "want </%s>, for the element of line %d", e.name, line)
}

// comment skips a comment.
func (x *Reader) comment() error {
	start := x.pos + len("<!--")
	n := bytes.Index(x.Data[start:], []byte("--"))
	if n < 0 {
		return x.Errorf(x.pos, "the comment has no end")
	}
	end := start + n
	if !bytes.HasPrefix(x.Data[end:], []byte("-->")) {
		return x.Errorf(end, "-- in a comment")
	}
	x.pos, x.Comments = end+len("-->"), true
	return x.noControls(start, end)
}

// instruction skips a processing instruction.
func (x *Reader) instruction() error {
	start := x.pos + len("<?")
	n := bytes.Index(x.Data[start:], []byte("?>"))
	if n < 0 {
		return x.Errorf(x.pos, "the processing instruction has no end")
	}
	x.pos = start
	name, err := x.readName("a processing instruction")
	if err != nil {
		return err
	}
	if bytes.EqualFold(name.Full, []byte("xml")) {
		return x.Errorf(x.At, "an XML declaration that is not at the start of the file")
	}
	x.pos = start + n + len("?>")
	return x.noControls(start, start+n)
}

// noControls refuses control characters in what is skipped.
func (x *Reader) noControls(from, to int) error {
	for i, c := range x.Data[from:to] {
		if c < ' ' && class[c]&isSpace == 0 {
			return x.badControl(from + i)
		}
	}
	return nil
}

func (x *Reader) badControl(at int) error {
	return x.Errorf(at, "the control character U+%04X is no character of XML", x.Data[at])
}

func (x *Reader) skipSpace() {
	for x.pos < len(x.Data) && class[x.Data[x.pos]]&isSpace != 0 {
		x.pos++
	}
}
