package blte

import (
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	// maxSpecDepth bounds specs in specs.
	maxSpecDepth = 8
	// maxSpecNumber keeps sizes far from overflow, also times 1M.
	maxSpecNumber = 1 << 40
)

// SpecError reports a text that is no ESpec.
type SpecError struct {
	// Off is a byte offset in the text.
	Off int
	// What was expected there.
	What string
}

func (e *SpecError) Error() string { return fmt.Sprintf("blte: ESpec, byte %d: %s", e.Off, e.What) }

// ParseSpec reads an ESpec. Its errors are of type *SpecError.
func ParseSpec(text string) (*Spec, error) {
	p := &specParser{text: text}
	s, err := p.spec(0)
	if err != nil {
		return nil, err
	}
	if p.off < len(text) {
		return nil, p.fail("the text goes on behind the spec")
	}
	return s, nil
}

type specParser struct {
	text string
	off  int
}

func (p *specParser) fail(format string, args ...any) error {
	return &SpecError{Off: p.off, What: fmt.Sprintf(format, args...)}
}

// take skips c if it is next.
func (p *specParser) take(c byte) bool {
	if p.off < len(p.text) && p.text[p.off] == c {
		p.off++
		return true
	}
	return false
}

func (p *specParser) want(c byte) error {
	if !p.take(c) {
		return p.fail("expected %q", c)
	}
	return nil
}

func (p *specParser) spec(depth int) (*Spec, error) {
	if depth > maxSpecDepth {
		return nil, p.fail("nested deeper than %d times", maxSpecDepth)
	}
	if p.off == len(p.text) {
		return nil, p.fail("expected one of n, z, b, e, c, g")
	}
	s := &Spec{Mode: p.text[p.off]}
	p.off++
	switch s.Mode {
	case 'n':
		return s, nil
	case 'z', 'c', 'g':
		return s, p.arguments(s)
	case 'b':
		return s, p.blocks(s, depth)
	case 'e':
		return s, p.encryption(s, depth)
	}
	p.off--
	return nil, p.fail("expected one of n, z, b, e, c, g")
}

// arguments reads what may follow z, c and g.
func (p *specParser) arguments(s *Spec) error {
	if !p.take(':') {
		return nil
	}
	s.Braces = p.take('{')
	for {
		arg := p.word()
		if arg == "" {
			return p.fail("expected an argument")
		}
		s.Args = append(s.Args, arg)
		if !s.Braces {
			return nil
		}
		if !p.take(',') {
			return p.want('}')
		}
	}
}

// word reads letters and digits.
func (p *specParser) word() string {
	from := p.off
	for p.off < len(p.text) {
		c := p.text[p.off]
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
		p.off++
	}
	return p.text[from:p.off]
}

func (p *specParser) blocks(s *Spec, depth int) error {
	if err := p.want(':'); err != nil {
		return err
	}
	s.Braces = p.take('{')
	for {
		b, err := p.block(depth)
		if err != nil {
			return err
		}
		s.Blocks = append(s.Blocks, b)
		if !s.Braces {
			return nil
		}
		if !p.take(',') {
			return p.want('}')
		}
	}
}

func (p *specParser) block(depth int) (SpecBlock, error) {
	b := SpecBlock{Size: -1, Count: -1}
	var err error
	if p.digit() {
		if b.Size, err = p.number(); err != nil {
			return b, err
		}
		switch {
		case p.take('K'):
			b.Unit = 'K'
		case p.take('M'):
			b.Unit = 'M'
		}
	}
	if b.Many = p.take('*'); b.Many && p.digit() {
		if b.Count, err = p.number(); err != nil {
			return b, err
		}
	}
	if b.Many || b.Size >= 0 {
		if err := p.want('='); err != nil {
			return b, err
		}
	}
	b.Spec, err = p.spec(depth + 1)
	return b, err
}

func (p *specParser) digit() bool {
	return p.off < len(p.text) && p.text[p.off] >= '0' && p.text[p.off] <= '9'
}

// number reads digits without leading zeros, so that String can write them back.
func (p *specParser) number() (int64, error) {
	from, n := p.off, int64(0)
	for p.digit() {
		n = n*10 + int64(p.text[p.off]-'0')
		if n > maxSpecNumber {
			return 0, p.fail("a number of more than %d", int64(maxSpecNumber))
		}
		p.off++
	}
	if p.text[from] == '0' && p.off > from+1 {
		p.off = from
		return 0, p.fail("a number with leading zeros")
	}
	return n, nil
}

func (p *specParser) encryption(s *Spec, depth int) error {
	if !strings.HasPrefix(p.text[p.off:], ":{") {
		return p.fail("expected %q", ":{")
	}
	p.off += 2
	s.KeyText = p.word()
	if _, ok := parseKeyName(s.KeyText, true); !ok {
		return p.fail("expected a key name of 16 hex digits")
	}
	if err := p.want(','); err != nil {
		return err
	}
	s.IVText = p.word()
	if iv, err := hex.DecodeString(s.IVText); err != nil || (len(iv) != 4 && len(iv) != 8) {
		return p.fail("expected an IV of 8 or 16 hex digits")
	}
	if err := p.want(','); err != nil {
		return err
	}
	var err error
	if s.Inner, err = p.spec(depth + 1); err != nil {
		return err
	}
	return p.want('}')
}
