package patch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lorefs/datacenter"
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
	maxGuards = 128
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
	p := &parser{patch: &Patch{Name: name}, rest: bytes.TrimPrefix(data, []byte("\ufeff"))}
	if len(data) > MaxBytes {
		return nil, p.errorf("%d bytes: want at most %d", len(data), MaxBytes)
	}
	if err := p.header(); err != nil {
		return nil, err
	}
	for p.next() {
		if err := p.take(); err != nil {
			return nil, err
		}
	}
	if err := p.long(); err != nil {
		return nil, err
	}
	if p.isMarked && !p.isWhole {
		return nil, p.errorf("the patch ends here, without the line %q that its header promises: it was cut off", lastLine)
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	p.patch.Notes = p.notes
	return p.patch, nil
}

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

// next goes on to the next line; it is false at the end, and before a line that is too long.
func (p *parser) next() bool {
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
	if len(p.rest) == 0 {
		return nil
	}
	p.line++
	return p.errorf("a line of more than %d bytes", maxLine)
}

// header takes what is before the blocks.
func (p *parser) header() error {
	if !p.next() || !strings.HasPrefix(p.text, magic) {
		return p.errorf("this is no patch: want %q", firstLine)
	}
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
		case !found:
			return p.errorf("%s: want NAME: text, a block that begins with @, or an empty line", shown.Quote(p.text))
		case len(p.patch.Header) == maxFields:
			return p.errorf("more than %d lines before the first block", maxFields)
		}
		p.patch.Header = append(p.patch.Header, Field{name, text})
	}
	return p.long()
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
	case '?', '-', '+':
	default:
		return p.errorf("%s: want @, @+, @-, ?, -, +, # or !", shown.Quote(p.text))
	}
	if p.block == nil {
		return p.errorf("%s: want a block before it, which begins with @", shown.Quote(p.text))
	}
	p.block.Notes = append(p.block.Notes, p.notes...)
	p.notes = nil
	switch {
	case p.text[0] == '?':
		return p.guard()
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

// besideWord finds the first word outside of quotes and braces that stands between a path
// and a sibling. Without one the path ends at the end of the text.
func besideWord(text string) (at int, word string) {
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
		case strings.HasPrefix(text[i:], wordAfter):
			return i, wordAfter
		case strings.HasPrefix(text[i:], wordBefore):
			return i, wordBefore
		}
	}
	return len(text), ""
}

// guard takes a line that begins with "?".
func (p *parser) guard() error {
	b := p.block
	const want = "? STEP n/m[>n/m] (not 0/0) old new self before after, or ? STEP self before after, each of these 12 hex digits or -"
	fields := strings.Split(p.text, " ")
	const hashes = 5
	t := len(fields) - 3
	if t > 4 && fields[t-1] == ">" {
		t -= 4
	}
	if t > 1 && strings.HasSuffix(fields[t-1], "]") && len(b.Lines) == 0 && len(p.xml) == 0 && b.Hash == 0 {
		if !p.trait(strings.Join(fields[1:t], " "), fields[t:]) {
			return p.errorf("%s: want %s, of a step of the path that has conditions, in their order", shown.Quote(p.text), want)
		}
		return nil
	}
	if len(fields) < 3+hashes || fields[0] != "?" {
		return p.errorf("%s: want %s", shown.Quote(p.text), want)
	}
	if len(b.Lines) > 0 || len(p.xml) > 0 {
		return p.errorf("a guard behind what it guards: want it behind the path")
	}
	if len(b.Guards) == maxGuards {
		return p.errorf("more than %d guards of a block", maxGuards)
	}
	tail := fields[len(fields)-1-hashes:]
	g := Guard{Step: strings.Join(fields[1:len(fields)-1-hashes], " ")}
	old, now, moved := strings.Cut(tail[0], ">")
	ok := parsePlaceOf(old, &g.N, &g.Of)
	g.NewN, g.NewOf = g.N, g.Of
	if moved {
		ok = ok && parsePlaceOf(now, &g.NewN, &g.NewOf) && (g.N != g.NewN || g.Of != g.NewOf)
	}
	for i, h := range [...]*Hash{&g.Old, &g.New, &g.Self, &g.Before, &g.After} {
		text := tail[1+i]
		if i == 2 {
			bare := strings.TrimRight(text, "*")
			g.Alone = Alone(min(len(text)-len(bare), 3))
			text = bare
		}
		ok = ok && parseHash(text, h)
	}
	if !ok || g.isEmpty() || g.Alone > ByGroup {
		return p.errorf("%s: want %s", shown.Quote(p.text), want)
	}
	b.Guards = append(b.Guards, g)
	return nil
}

// trait takes a guard of a step that finds its node by values; it is false if that is wrong.
func (p *parser) trait(step string, hashes []string) bool {
	b, t := p.block, Trait{At: 1}
	if n := len(b.Traits); n > 0 {
		t.At = b.Traits[n-1].At + 1
	}
	end := len(b.Path.Steps)
	if b.Kind == Add && b.Beside.Text != "" {
		end++
	}
	for t.At < end && (bareStep(b.stepAt(t.At)) != step || !canHaveTrait(b.stepAt(t.At))) {
		t.At++
	}
	self, more := strings.CutSuffix(hashes[0], "*")
	self, t.Deep = strings.CutSuffix(self, "+")
	t.Alone = !more
	marks := hashes[0][len(self):]
	content := func(h []string, c *Content) bool {
		self, marked := strings.CutSuffix(h[0], marks)
		return marked && parseHash(self, &c.Self) && c.Self != 0 && parseHash(h[1], &c.Before) && parseHash(h[2], &c.After)
	}
	ok := t.At < end && content(hashes, &t.Content) && (len(hashes) == 3 || content(hashes[4:], &t.Now))
	b.Traits = append(b.Traits, t)
	return ok
}

// parsePlaceOf reads n/m.
func parsePlaceOf(text string, n, of *int) bool {
	x, y, _ := strings.Cut(text, "/")
	a, err1 := strconv.ParseUint(x, 10, 31)
	b, err2 := strconv.ParseUint(y, 10, 31)
	*n, *of = int(a), int(b)
	return err1 == nil && err2 == nil && a <= b && text == fmt.Sprintf("%d/%d", a, b)
}

func parseHash(text string, h *Hash) bool {
	if text == "-" {
		return true
	}
	n, err := strconv.ParseUint(text, 16, 48)
	*h = Hash(n)
	return err == nil && len(text) == 12 && n != 0
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
	if len(keys) > datacenter.MaxKeyNames {
		return nil, fmt.Errorf("%d keys of a node: want at most %d", len(keys), datacenter.MaxKeyNames)
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
	if p.block.Hash != 0 {
		return p.errorf("%s: want nothing behind the hash of a node", shown.Quote(p.text))
	}
	if len(p.xml) == 0 {
		p.xmlLine = p.line
		if strings.HasPrefix(p.text[1:], hashName+" ") {
			return p.hashLine()
		}
	}
	p.xml = append(append(p.xml, p.text[1:]...), '\n')
	return nil
}

// hashLine takes the line that has the hash of a node instead of its XML.
func (p *parser) hashLine() error {
	name, rest, err := cutName(strings.TrimPrefix(p.text[1:], hashName+" "))
	if err == nil {
		b := p.block
		hash, size, _ := strings.Cut(rest, " ")
		n, failed := strconv.ParseUint(size, 10, 32)
		if b.Size = int64(n); failed != nil || !parseHash(hash, &b.Hash) || b.Hash == 0 || size != strconv.FormatUint(n, 10) {
			err = fmt.Errorf("%s: want %s NAME, 12 hex digits, and how many nodes and attributes it has", shown.Quote(p.text), hashName)
		}
	}
	if err != nil {
		return p.wrong(p.line, err)
	}
	p.block.Node = &sheets.Element{Name: name}
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
		if len(p.xml) == 0 && b.Hash == 0 {
			return p.wrong(b.Line, errors.New("a block without a node: want its XML"))
		}
		if err := p.endNode(b); err != nil {
			return err
		}
	}
	return p.endGuards(b)
}

// endGuards gives each place of a block its guard, or an empty one if its guard was deleted.
func (p *parser) endGuards(b *Block) error {
	var steps []query.PlainStep
	for _, s := range append(slices.Clip(b.Path.Steps), b.Beside.Step) {
		if placeOf(&s) > 0 {
			steps = append(steps, s)
		}
	}
	given := b.Guards
	b.Guards = nil
	for i := range steps {
		g := Guard{Step: bareStep(&steps[i])}
		if len(given) > 0 && given[0].Step == g.Step {
			g, given = given[0], given[1:]
		}
		b.Guards = append(b.Guards, g)
	}
	b.Guards = append(b.Guards, given...)
	if len(given) > 1 || len(given) == 1 && b.Kind != Add {
		return p.wrong(b.Line, fmt.Errorf("a guard of %s: want only those of the %d places of the block, in their order", shown.Quote(given[0].Step), len(steps)))
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
	e, err := b.Node, error(nil)
	if b.Hash == 0 {
		e, err = sheets.ParseElement(p.patch.Name, p.xml)
	}
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

// places counts the places in the path and beside it.
func (b *Block) places() (n int) {
	for i := range b.Path.Steps {
		if placeOf(&b.Path.Steps[i]) > 0 {
			n++
		}
	}
	if b.Beside.Text != "" && b.Beside.Step.Nth > 0 {
		n++
	}
	return n
}

// placeOf is the place that a step asks for, 0 if it asks for none.
func placeOf(s *query.PlainStep) int { return max(s.Nth, s.NthOfAll) }
