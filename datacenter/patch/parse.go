package patch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
	"lorefs/internal/shown"
)

// What a patch can have at most.
const (
	// MaxBytes is the largest size of the text.
	MaxBytes  = 1 << 30
	maxLine   = 32 << 20
	maxBlocks = 1 << 20
	maxLines  = 1 << 16
	maxFields = 1 << 10
	maxNotes  = 1 << 20
)

// SyntaxError reports a line that no patch of this version has.
type SyntaxError struct {
	File string
	// Line counts from 1.
	Line int
	// What was found and what was expected.
	What string
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("patch: %s:%d: %s", e.File, e.Line, e.What) }

func (e *SyntaxError) Unwrap() error { return e.Err }

// Parse reads a patch. The name is for errors, each a [SyntaxError], and for reports.
func Parse(name string, data []byte) (*Patch, error) {
	all, err := ParseAll(name, data)
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		p := parser{patch: all[1], line: all[1].Line}
		return nil, p.errorf("%s: want one patch", firstLine)
	}
	return all[0], nil
}

// ParseAll reads the patches of a text, of which there may be several, one behind the other. All but the first
// have their number behind the name. Lines are those of the text.
func ParseAll(name string, data []byte) (all []*Patch, err error) {
	p := &parser{rest: data}
	for more := true; more; {
		p.patch, p.isMarked, p.isWhole, p.notes = &Patch{Name: name}, false, false, nil
		if len(all) > 0 {
			p.patch.Name = fmt.Sprintf("%s#%d", name, len(all)+1)
		}
		if len(data) > MaxBytes {
			return nil, p.errorf("%d bytes: want at most %d", len(data), MaxBytes)
		}
		if more, err = p.one(); err != nil {
			return nil, err
		}
		all = append(all, p.patch)
	}
	return all, nil
}

// one reads a patch. It reports whether another one begins behind it.
func (p *parser) one() (more bool, err error) {
	if err := p.header(); err != nil {
		return false, err
	}
	for p.next() {
		if err := p.take(); err != nil {
			return false, err
		}
	}
	if err := p.long(); err != nil {
		return false, err
	}
	if p.isMarked && !p.isWhole {
		return false, p.errorf("the patch ends here, without the line %q that its header promises: it was cut off", lastLine)
	}
	if err := p.end(); err != nil {
		return false, err
	}
	p.patch.Notes = p.notes
	return p.atMagic(), nil
}

// atMagic reports whether the next line is the first one of a patch.
func (p *parser) atMagic() bool {
	return bytes.HasPrefix(bytes.TrimPrefix(p.rest, []byte(byteOrderMark)), []byte(magic))
}

// byteOrderMark may begin what an editor wrote.
const byteOrderMark = "\ufeff"

// parser reads a patch line by line.
type parser struct {
	patch *Patch
	rest  []byte
	text  string // the line at hand
	line  int
	// isCut says that the line has no end. isMarked says that the header promises a last line, and
	// isWhole that it was read.
	isCut, isMarked, isWhole bool
	// block is the one that is being read, of which xml are the lines of its node, the
	// first of which is xmlLine.
	block   *Block
	xml     []byte
	xmlLine int
	notes   []string // of which it is not known yet what they belong to
	noted   int      // how many there were
}

func (p *parser) errorf(format string, args ...any) error {
	return p.wrong(max(p.line, 1), fmt.Errorf(format, args...))
}

// wrong is an error in a line.
func (p *parser) wrong(line int, err error) error {
	return &SyntaxError{File: p.patch.Name, Line: line, What: err.Error(), Err: err}
}

// next goes on to the next line; it is false at the end of the patch, and before a line that is too long.
func (p *parser) next() bool { return !p.atMagic() && p.nextLine() }

// nextLine is next, whatever the line begins.
func (p *parser) nextLine() bool {
	if len(p.rest) == 0 {
		return false
	}
	end := bytes.IndexByte(p.rest, '\n')
	line := p.rest
	if end >= 0 {
		line = p.rest[:end]
	}
	if len(line) > maxLine {
		return false
	}
	p.isCut = end < 0
	p.rest = p.rest[min(len(line)+1, len(p.rest)):]
	p.text = strings.TrimSuffix(string(line), "\r")
	p.line++
	return true
}

// long is the error of a line that next would not take.
func (p *parser) long() error {
	if len(p.rest) == 0 || p.atMagic() {
		return nil
	}
	p.line++
	return p.errorf("a line of more than %d bytes", maxLine)
}

// header takes what is before the blocks.
func (p *parser) header() error {
	isPatch := p.atMagic()
	p.rest = bytes.TrimPrefix(p.rest, []byte(byteOrderMark))
	if p.nextLine(); !isPatch {
		return cmp.Or(p.marker(), p.errorf("this is no patch: want %q", firstLine))
	}
	p.patch.Line = p.line
	if p.text != firstLine {
		return p.errorf("version %s of patches is unknown: want %q", shown.Quote(p.text[len(magic):]), firstLine)
	}
	if p.isCut {
		return p.cut()
	}
	for p.next() {
		name, text, found := strings.Cut(p.text, ":")
		text = strings.TrimPrefix(text, " ")
		switch {
		case p.isCut:
			return p.cut()
		case name == endName && text == lastLine:
			p.isMarked = true
			continue
		case p.text == "":
			return nil
		case strings.IndexByte("@#!", p.text[0]) >= 0:
			return p.take()
		case p.marker() != nil:
			return p.marker()
		case !found:
			return p.errorf("%s: want NAME: text, a block that begins with @, or an empty line", shown.Quote(p.text))
		case len(p.patch.Header) == maxFields:
			return p.errorf("more than %d lines before the first block", maxFields)
		}
		p.patch.Header = append(p.patch.Header, Field{name, text})
	}
	return p.long()
}

// marker is the error of a line with which git marks a conflict, or nil.
func (p *parser) marker() error {
	const marks, length = "<|=>", 7
	mark := p.text[:min(length, len(p.text))]
	if mark == "" || strings.IndexByte(marks, mark[0]) < 0 || mark != strings.Repeat(mark[:1], length) {
		return nil
	}
	return p.errorf("%s: this is a conflict marker of git: want the conflict resolved", shown.Quote(p.text))
}

// cut is the error of a line without an end.
func (p *parser) cut() error {
	return p.errorf("%s: want a line end behind the last line: the patch was cut off here, unless an editor left it out", shown.Quote(p.text))
}

// take takes a line behind the header.
func (p *parser) take() error {
	switch {
	case p.isCut:
		return p.cut()
	case p.text == "":
		return nil
	case p.isWhole && p.text[0] == '@':
		return p.errorf("%s: want no block behind the line %q", shown.Quote(p.text), lastLine)
	case p.text == lastLine:
		p.isWhole = p.isMarked
		return nil
	}
	switch p.text[0] {
	case '#', '!':
		if p.noted++; p.noted > maxNotes {
			return p.errorf("more than %d lines that begin with # or !", maxNotes)
		}
		p.notes = append(p.notes, p.text)
		return nil
	case '@':
		return p.begin()
	case '?':
		return p.errorf("%s: this is a guard of hashes, which patches had before lorefs 0.1: want a context, which begins with a space, or none", shown.Quote(p.text))
	case ' ', '-', '+':
	default:
		return cmp.Or(p.marker(), p.errorf("%s: want @, @+, @-, a space, -, +, # or !", shown.Quote(p.text)))
	}
	if p.block == nil {
		return p.errorf("%s: want a block before it, which begins with @", shown.Quote(p.text))
	}
	p.block.Notes = append(p.block.Notes, p.notes...)
	p.notes = nil
	switch {
	case p.text[0] == ' ':
		return p.context()
	case p.block.Kind == Change:
		return p.change()
	}
	return p.nodeLine()
}

// begin begins a block.
func (p *parser) begin() error {
	if err := p.end(); err != nil {
		return err
	}
	if len(p.patch.Blocks) == maxBlocks {
		return p.errorf("more than %d blocks", maxBlocks)
	}
	b := Block{Line: p.line, Notes: p.notes}
	p.notes = nil
	mark, path, _ := strings.Cut(p.text, " ")
	switch mark {
	case "@":
	case "@+":
		b.Kind = Add
	case "@-":
		b.Kind = Remove
	default:
		return p.errorf("a block of the kind %s is unknown: want @, @+ or @-, and a space", shown.Quote(mark))
	}
	var err error
	if b.Kind == Change {
		b.Path, err = ParsePath(path)
	} else {
		b.Path, b.Beside, err = parsePlace(path)
	}
	if err != nil {
		return p.wrong(p.line, err)
	}
	if b.Kind == Remove && len(b.Path.Steps) == 0 {
		return p.errorf("the root can't be removed: want a path of a node")
	}
	p.patch.Blocks = append(p.patch.Blocks, b)
	p.block = &p.patch.Blocks[len(p.patch.Blocks)-1]
	return nil
}

// ParsePath reads a path of a patch. "/" is that of the root.
func ParsePath(text string) (Path, error) {
	if text == "/" {
		return Path{Text: text}, nil
	}
	q, err := query.Compile(text)
	if err != nil {
		return Path{}, err
	}
	steps, ok := q.Plain()
	if !ok {
		return Path{}, fmt.Errorf("the path %s asks for more than a patch can: want names, [@attribute=value and …] and places", shown.Quote(text))
	}
	for i := range steps {
		if steps[i].Nth > 0 && steps[i].NthOfAll > 0 {
			return Path{}, fmt.Errorf("the path %s has two places in one step: want one", shown.Quote(text))
		}
	}
	return Path{text, steps}, nil
}

// parsePlace reads a path with the sibling behind it, if there is one.
func parsePlace(text string) (path Path, beside Beside, err error) {
	at, word := besideWord(text)
	if path, err = ParsePath(text[:at]); err != nil || word == "" {
		return path, beside, err
	}
	beside = Beside{Before: word == wordBefore, Text: text[at+len(word):]}
	step, err := ParsePath("/" + beside.Text)
	if err != nil {
		return path, beside, err
	}
	if len(step.Steps) != 1 {
		return path, beside, fmt.Errorf("%s: want one step, behind which or before which the node is", shown.Quote(beside.Text))
	}
	beside.Step = step.Steps[0]
	return path, beside, nil
}

// besideWord finds the first word that stands between a path and a sibling. Without one the path ends at the
// end of the text.
func besideWord(text string) (at int, word string) { return findWord(text, wordAfter, wordBefore) }

// findWord finds the first of some words outside of quotes and braces, or the end of the text.
func findWord(text string, words ...string) (at int, word string) {
	var end byte // of what is quoted
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case end != 0 && c == end && end == '}' && strings.HasPrefix(text[i+1:], "}"):
			i++ // which stands for itself
		case end != 0:
			if c == end {
				end = 0
			}
		case c == '\'' || c == '"':
			end = c
		case c == '{':
			end = '}'
		case c == ' ':
			for _, w := range words {
				if strings.HasPrefix(text[i:], w) {
					return i, w
				}
			}
		}
	}
	return len(text), ""
}

// context takes a line that begins with a space.
func (p *parser) context() error {
	b := p.block
	if len(b.Lines) > 0 || len(p.xml) > 0 {
		return p.errorf("%s: a context behind what it is for: want it behind the path", shown.Quote(p.text))
	}
	c, err := b.parseContext(p.text)
	if err != nil {
		return p.wrong(p.line, fmt.Errorf("%s: %w", shown.Quote(p.text), err))
	}
	b.Contexts = append(b.Contexts, *c)
	return nil
}

var errContext = errors.New("want /STEP of the path, after STEP or before STEP as beside it, or +STEP, in this order, and behind it at N of M, sum and 8 hex digits, is STEP, after STEP or before STEP")

// parseContext reads the line of a context, behind those that the block has.
func (b *Block) parseContext(text string) (*Context, error) {
	c, rest, err := b.cutSubject(text)
	if err != nil {
		return nil, err
	}
	name := b.contextName(c)
	last := ""
	for rest != "" {
		_, word := findWord(rest, contextWords...)
		end, _ := findWord(rest[len(word):], contextWords...)
		if word == "" || !strings.HasPrefix(rest, word) || slices.Index(contextWords, word) <= slices.Index(contextWords, last) {
			return nil, errContext
		}
		part := rest[len(word) : len(word)+end]
		if err := c.take(word, part, name); err != nil {
			return nil, err
		}
		rest, last = rest[len(word)+end:], word
	}
	if last == "" || c.At == AddedNode && c.Sum == 0 {
		return nil, errContext
	}
	return c, nil
}

// contextWords are the words of a context, in their order.
var contextWords = []string{wordAt, wordSum, wordIs, wordLike, wordAfter, wordBefore}

// cutSubject reads which step a context is about, and returns what is behind that.
func (b *Block) cutSubject(text string) (c *Context, rest string, err error) {
	c = &Context{}
	step := ""
	cut := func(word string) bool {
		found := strings.HasPrefix(text, word)
		if found {
			end, _ := findWord(text[len(word):], contextWords...)
			step, rest = text[len(word):len(word)+end], text[len(word)+end:]
		}
		return found
	}
	beside := wordAfter
	if b.Beside.Before {
		beside = wordBefore
	}
	switch {
	case cut(" /"):
		c.At = b.findStep(lastStep(b.Contexts)+1, "/"+step)
		if c.At < 0 || len(b.Contexts) > 0 && b.Contexts[len(b.Contexts)-1].At < 0 {
			return nil, "", errContext
		}
	case b.Beside.Text != "" && cut(beside):
		if c.At = BesideStep; bareStep(&b.Beside.Step) != step || b.contextOf(BesideStep) != nil || b.contextOf(AddedNode) != nil {
			return nil, "", errContext
		}
	case b.Kind == Add && cut(" +"):
		p, err := ParsePath("/" + step)
		if err != nil {
			return nil, "", err
		}
		if len(p.Steps) != 1 || bareStep(&p.Steps[0]) != step || b.contextOf(AddedNode) != nil {
			return nil, "", errContext
		}
		c.At, c.Step = AddedNode, p.Steps[0]
	default:
		return nil, "", errContext
	}
	return c, rest, nil
}

// contextName returns the name of the nodes that a context is about.
func (b *Block) contextName(c *Context) string {
	switch c.At {
	case BesideStep:
		return b.Beside.Step.Name
	case AddedNode:
		return c.Step.Name
	}
	return b.Path.Steps[c.At].Name
}

// take reads what a word of a context says.
func (c *Context) take(word, text, name string) (err error) {
	before, after, changes := strings.Cut(text, wordThen)
	ok := true
	switch word {
	case wordAt:
		ok = parsePlaceOf(before, &c.N, &c.Of)
		c.NewN, c.NewOf = c.N, c.Of
		if changes {
			ok = ok && parsePlaceOf(after, &c.NewN, &c.NewOf) && (c.N != c.NewN || c.Of != c.NewOf)
		}
		ok = ok && c.Of|c.NewOf > 0
	case wordSum:
		ok = parseSum(before, &c.Sum)
		c.NewSum = c.Sum
		if changes {
			ok = ok && parseSum(after, &c.NewSum) && c.Sum != c.NewSum
		}
	case wordIs:
		c.Is, err = parseFacts(text, name)
	case wordLike:
		c.Like = true
		c.Is, err = parseFacts(text, name)
	case wordAfter:
		c.After, err = parseFacts(text, name)
	case wordBefore:
		c.Before, err = parseFacts(text, name)
	}
	if !ok {
		return errContext
	}
	return err
}

// parseFacts reads a path without places that begins with a name.
func parseFacts(text, name string) (Facts, error) {
	p, err := ParsePath("/" + text)
	if err != nil {
		return nil, err
	}
	hasPlace := slices.ContainsFunc(p.Steps, func(s query.PlainStep) bool { return placeOf(&s) > 0 })
	f := Facts(p.Steps)
	if len(f) == 0 || f[0].Name != name || hasPlace || len(f) == 1 && len(f[0].Conditions) == 0 || f.String() != text {
		return nil, fmt.Errorf("%s: want %s with values of attributes, or with a node below it, and no place", shown.Quote(text), shown.Quote(name))
	}
	return f, nil
}

// parsePlaceOf reads n of m.
func parsePlaceOf(text string, n, of *int) bool {
	x, y, _ := strings.Cut(text, " of ")
	a, err1 := strconv.ParseUint(x, 10, 31)
	b, err2 := strconv.ParseUint(y, 10, 31)
	*n, *of = int(a), int(b)
	return err1 == nil && err2 == nil && a <= b && text == fmt.Sprintf("%d of %d", a, b)
}

// parseSum reads the hash of a context.
func parseSum(text string, s *Sum) bool {
	n, err := strconv.ParseUint(text, 16, 32)
	*s = Sum(n)
	return err == nil && n != 0 && text == fmt.Sprintf("%08x", n)
}

// change takes a line of a block that changes a node.
func (p *parser) change() error {
	b, added := p.block, p.text[0] == '+'
	l, v, err := parseLine(p.text[1:])
	if err != nil {
		return p.wrong(p.line, err)
	}
	if len(b.Path.Steps) == 0 && l.What == Attribute {
		return p.errorf("%s: the root has no attributes: want %s or %s", shown.Quote(p.text[1:]), keysName, flagsName)
	}
	i := slices.IndexFunc(b.Lines, func(x Line) bool { return x.What == l.What && x.Name == l.Name })
	if i < 0 {
		if len(b.Lines) == maxLines {
			return p.errorf("more than %d changes of a node", maxLines)
		}
		l.At = p.line
		b.Lines = append(b.Lines, l)
		i = len(b.Lines) - 1
	} else if i < len(b.Lines)-1 || !added || b.Lines[i].given(&b.Lines[i].New) || !b.Lines[i].given(&b.Lines[i].Old) {
		return p.errorf("%s is changed twice: want one line with - and one with + behind it", shown.Quote(p.text[1:]))
	}
	if added {
		b.Lines[i].New = v
	} else {
		b.Lines[i].Old = v
	}
	return nil
}

// given tells whether a value was read already.
func (l *Line) given(v *Value) bool {
	return v.Attribute.Type() != 0 || v.Keys != nil || v.Flags&parsedFlags != 0
}

// parsedFlags tells flags that were read, as long as a block is.
const parsedFlags = 1 << 7

// parseLine reads what is behind the sign of a line.
func parseLine(text string) (l Line, v Value, err error) {
	name, value, err := cutName(text)
	if err != nil {
		return l, v, err
	}
	kind, value, _ := strings.Cut(value, " ")
	switch {
	case text[0] != '%':
		l.Name = name
		v.Attribute, err = parseValue(kind, value)
		if err == nil && name == valueName && v.Attribute.Type() != datacenter.String {
			err = fmt.Errorf("%s is a %s: want a string", valueName, kind)
		}
	case name == keysName && kind == "keys":
		l.What = Keys
		v.Keys, err = parseKeys(value)
	case name == flagsName && kind == "flags":
		l.What = Flags
		var n uint64
		n, err = strconv.ParseUint(value, 10, 4)
		if err != nil || value != strconv.FormatUint(n, 10) {
			err = fmt.Errorf("flags %s: want a number from 0 to 15", shown.Quote(value))
		}
		v.Flags = datacenter.KeyFlags(n) | parsedFlags
	default:
		err = fmt.Errorf("%s: want %s keys NAMES or %s flags NUMBER", shown.Quote(text), keysName, flagsName)
	}
	return l, v, err
}

const valueName = "__value__"

// cutName cuts a text behind the name that it begins with, and the space there.
func cutName(text string) (name, rest string, err error) {
	spelled := text
	if strings.HasPrefix(text, "{") {
		for i := 1; i < len(text); i++ {
			if text[i] != '}' {
				continue
			}
			if i+1 < len(text) && text[i+1] == '}' {
				i++
				continue
			}
			spelled, rest = text[:i+1], text[i+1:]
			name = strings.ReplaceAll(spelled[1:i], "}}", "}")
			break
		}
	} else if i := strings.IndexByte(text, ' '); i >= 0 {
		spelled, rest = text[:i], text[i:]
		name = spelled
	}
	if name != keysName && name != flagsName || spelled != name {
		if string(query.AppendName(nil, name)) != spelled {
			return "", "", fmt.Errorf("%s: want the name of an attribute, {in braces} if it has more than letters and digits, and a value", shown.Quote(text))
		}
		if err := datacenter.CheckName(name); err != nil {
			return "", "", err
		}
	}
	rest, found := strings.CutPrefix(rest, " ")
	if !found {
		return "", "", fmt.Errorf("%s: want a space and a value behind the name", shown.Quote(text))
	}
	return name, rest, nil
}

var errValueKey = errors.New(valueName + " is no key: want names of attributes")

func parseKeys(text string) (datacenter.KeyDefinition, error) {
	keys := datacenter.KeyDefinition{}
	for text != "" {
		name, rest, err := cutName(text + " ")
		if err != nil {
			return nil, err
		}
		if name == valueName {
			return nil, errValueKey
		}
		keys = append(keys, name)
		text = strings.TrimSuffix(rest, " ")
	}
	if len(keys) > form.MaxKeyNames {
		return nil, fmt.Errorf("%d keys of a node: want at most %d", len(keys), form.MaxKeyNames)
	}
	return keys, nil
}

// parseValue reads a value of a type, each of which has one spelling.
func parseValue(kind, text string) (datacenter.Value, error) {
	t, err := datacenter.ParseType(kind)
	if err != nil {
		return datacenter.Value{}, err
	}
	if t == datacenter.String {
		if text, err = parseString(text); err != nil {
			return datacenter.Value{}, err
		}
	}
	return datacenter.ParseValue(t, text)
}

// nodeLine takes a line of the XML of a node.
func (p *parser) nodeLine() error {
	want := byte('+')
	if p.block.Kind == Remove {
		want = '-'
	}
	if p.text[0] != want {
		return p.errorf("%s: want lines that begin with %c here", shown.Quote(p.text), want)
	}
	if len(p.xml) == 0 {
		p.xmlLine = p.line
	}
	p.xml = append(append(p.xml, p.text[1:]...), '\n')
	return nil
}

// end checks the block that was read.
func (p *parser) end() error {
	b := p.block
	p.block = nil
	if b == nil {
		return nil
	}
	if b.Kind == Change {
		if len(b.Lines) == 0 {
			return p.wrong(b.Line, errors.New("a block that changes nothing: want lines that begin with - and +"))
		}
		for i := range b.Lines {
			if err := p.endLine(&b.Lines[i]); err != nil {
				return err
			}
		}
	} else {
		if len(p.xml) == 0 {
			return p.wrong(b.Line, errors.New("a block without a node: want its XML"))
		}
		if err := p.endNode(b); err != nil {
			return err
		}
	}
	return p.endContexts(b)
}

// endContexts checks what is said of a node that is added.
func (p *parser) endContexts(b *Block) error {
	if c := b.contextOf(AddedNode); c != nil && c.Step.Name != b.Node.Name {
		return p.wrong(b.Line, fmt.Errorf("a context of %s: want one of the node that is added, %s", shown.Quote(c.Step.Name), shown.Quote(b.Node.Name)))
	}
	return nil
}

// endLine checks a pair of lines.
func (p *parser) endLine(l *Line) error {
	if l.What != Attribute && (!l.given(&l.Old) || !l.given(&l.New)) {
		return p.wrong(l.At, errors.New("keys and flags are always there: want a line with - and one with +"))
	}
	l.Old.Flags &^= parsedFlags
	l.New.Flags &^= parsedFlags
	if len(l.Old.Keys) == 0 {
		l.Old.Keys = nil
	}
	if len(l.New.Keys) == 0 {
		l.New.Keys = nil
	}
	if l.Old.Equal(&l.New) {
		return p.wrong(l.At, errors.New("the same with - as with +: want a change"))
	}
	return nil
}

// Equal reports whether two values are the same.
func (v *Value) Equal(w *Value) bool {
	return v.Attribute == w.Attribute && v.Flags == w.Flags && slices.Equal(v.Keys, w.Keys)
}

// endNode reads the XML of a block.
func (p *parser) endNode(b *Block) error {
	e, err := sheets.ParseElement(p.patch.Name, p.xml, nil)
	p.xml = nil
	if err != nil {
		line, _, what := 1, 0, err.Error()
		var at interface {
			Place() (line, column int, what string)
		}
		if errors.As(err, &at) {
			line, _, what = at.Place()
		}
		return &SyntaxError{File: p.patch.Name, Line: p.xmlLine + max(line, 1) - 1, What: what, Err: err}
	}
	b.Node = e
	if err := checkNames(e); err != nil {
		return p.wrong(p.xmlLine, err)
	}
	if b.Kind == Remove && e.Name != b.Path.Steps[len(b.Path.Steps)-1].Name {
		return p.wrong(p.xmlLine, fmt.Errorf("the node is called %s: want the name that the path ends with", shown.Quote(e.Name)))
	}
	return nil
}

// checkNames returns an error for a name in e that XML allows, but a data center does not.
func checkNames(e *sheets.Element) error {
	if e.Name == valueName {
		return fmt.Errorf("%s is an attribute, not a node", valueName)
	}
	if slices.Contains(e.Keys, valueName) {
		return errValueKey
	}
	for _, c := range e.Children {
		if err := checkNames(c); err != nil {
			return err
		}
	}
	return nil
}

// placeOf is the place that a step asks for, 0 if it asks for none.
func placeOf(s *query.PlainStep) int { return max(s.Nth, s.NthOfAll) }
