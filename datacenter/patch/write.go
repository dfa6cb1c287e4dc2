package patch

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
	"lorefs/internal/wtf8"
)

// firstLine says what a file is.
const (
	magic     = "lorefs-patch "
	firstLine = magic + "1"
)

// The header promises the last line, so that a patch that was cut off is not taken for a whole one.
const (
	endName  = "end"
	lastLine = "# end"
)

// The names of lines that are not attributes'.
const (
	keysName  = "%keys"
	flagsName = "%flags"
)

// The words between a path and a sibling.
const (
	wordAfter  = " after "
	wordBefore = " before "
)

// Append appends the patch as a file.
func (p *Patch) Append(dst []byte) []byte {
	dst = append(dst, firstLine+"\n"+endName+": "+lastLine+"\n"...)
	for _, f := range p.Header {
		dst = fmt.Appendf(dst, "%s: %s\n", f.Name, f.Text)
	}
	dst = append(dst, '\n')
	for i := range p.Blocks {
		dst = p.Blocks[i].Append(dst)
	}
	return append(appendLines(dst, p.Notes), lastLine+"\n"...)
}

func appendLines(dst []byte, lines []string) []byte {
	for _, l := range lines {
		dst = append(append(dst, l...), '\n')
	}
	return dst
}

// Append appends the lines of a block.
func (b *Block) Append(dst []byte) []byte {
	dst = appendLines(dst, b.Notes)
	dst = append(dst, [...]string{Change: "@ ", Add: "@+ ", Remove: "@- "}[b.Kind]...)
	dst = append(dst, b.Path.Text...)
	if b.Beside.Text != "" {
		word := wordAfter
		if b.Beside.Before {
			word = wordBefore
		}
		dst = append(append(dst, word...), b.Beside.Text...)
	}
	dst = append(dst, '\n')
	for i := range b.Contexts {
		dst = b.Contexts[i].append(dst, b)
	}
	for i := range b.Lines {
		dst = b.Lines[i].append(dst)
	}
	if b.Node == nil {
		return dst
	}
	sign := byte('+')
	if b.Kind == Remove {
		sign = '-'
	}
	for line := range bytes.Lines(sheets.AppendElement(nil, b.Node)) {
		dst = append(append(dst, sign), line...)
	}
	return dst
}

// The words of a context, each before what it says.
const (
	wordAt   = " at "
	wordSum  = " sum "
	wordIs   = " is "
	wordLike = " like "
	// wordThen is before what is said of the siblings after the patch.
	wordThen = " then "
)

// append appends the line of a context.
func (c *Context) append(dst []byte, b *Block) []byte {
	switch {
	case c.At == AddedNode:
		dst = append(append(dst, " +"...), bareStep(&c.Step)...)
	case c.At == BesideStep && b.Beside.Before:
		dst = append(append(dst, wordBefore...), bareStep(&b.Beside.Step)...)
	case c.At == BesideStep:
		dst = append(append(dst, wordAfter...), bareStep(&b.Beside.Step)...)
	default:
		dst = append(append(dst, ' '), b.spellStep(c.At)...)
	}
	if c.Of|c.NewOf > 0 {
		dst = fmt.Appendf(dst, "%s%d of %d", wordAt, c.N, c.Of)
		if c.N != c.NewN || c.Of != c.NewOf {
			dst = fmt.Appendf(dst, "%s%d of %d", wordThen, c.NewN, c.NewOf)
		}
	}
	if c.Sum != 0 {
		dst = fmt.Appendf(dst, "%s%08x", wordSum, uint32(c.Sum))
		if c.Sum != c.NewSum {
			dst = fmt.Appendf(dst, "%s%08x", wordThen, uint32(c.NewSum))
		}
	}
	is := wordIs
	if c.Like {
		is = wordLike
	}
	for _, part := range [...]struct {
		word  string
		facts Facts
	}{{is, c.Is}, {wordAfter, c.After}, {wordBefore, c.Before}} {
		if len(part.facts) > 0 {
			dst = append(append(dst, part.word...), part.facts.String()...)
		}
	}
	return append(dst, '\n')
}

// String describes the line, as "price: int 10 to int 5".
func (l *Line) String() string {
	return l.Label() + ": " + l.Old.describe(l.What) + " to " + l.New.describe(l.What)
}

func (l *Line) append(dst []byte) []byte {
	if l.has(&l.Old) {
		dst = l.Old.append(append(dst, '-'), l)
	}
	if l.has(&l.New) {
		dst = l.New.append(append(dst, '+'), l)
	}
	return dst
}

// has tells whether there is such a value: of keys and flags there is always one.
func (l *Line) has(v *Value) bool { return l.What != Attribute || v.Attribute.Type() != 0 }

func (v *Value) append(dst []byte, l *Line) []byte {
	switch l.What {
	case Keys:
		dst = append(dst, keysName...)
	case Flags:
		dst = append(dst, flagsName...)
	default:
		dst = query.AppendName(dst, l.Name)
	}
	dst = append(dst, ' ')
	return append(append(dst, v.spell(l.What)...), '\n')
}

// spell is the value as in a line.
func (v *Value) spell(what What) string {
	switch what {
	case Keys:
		dst := []byte("keys")
		for _, k := range v.Keys {
			dst = query.AppendName(append(dst, ' '), k)
		}
		return string(dst)
	case Flags:
		return "flags " + strconv.Itoa(int(v.Flags))
	}
	return spellValue(v.Attribute)
}

// spellValue is the value of an attribute as in a line.
func spellValue(v datacenter.Value) string {
	switch v.Type() {
	case 0:
		return "not there"
	case datacenter.String:
		return "string " + string(wtf8.AppendJSON(nil, v.Text()))
	}
	return v.Type().String() + " " + v.Text()
}

// describe is a value in a report: it may be long.
func (v *Value) describe(what What) string {
	const most = 200
	s := v.spell(what)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
