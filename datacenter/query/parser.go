package query

import (
	"strconv"

	"lorefs/internal/shown"
)

// textName is the attribute with a node's text.
const textName = "__value__"

const (
	// maxExpr bounds an expression, in bytes.
	maxExpr = 16 << 10
	// maxSteps bounds the steps of a query, and those of each path in a predicate: they are
	// bits of one number.
	maxSteps = 64
	// maxNesting bounds predicates in predicates, and parentheses.
	maxNesting = 32
	// maxPredicates bounds the predicates of one step.
	maxPredicates = 16
)

// parser reads an expression.
type parser struct {
	lexer
	tok     token // the next one
	nesting int
}

// parse returns the paths of an expression.
func parse(expr string) ([]path, error) {
	if len(expr) > maxExpr {
		return nil, syntaxError(expr, maxExpr, "the expression has %d bytes: at most %d are supported", len(expr), maxExpr)
	}
	p := &parser{lexer: lexer{expr: expr}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var paths []path
	steps := 0
	for {
		one, err := p.absolute()
		if err != nil {
			return nil, err
		}
		paths = append(paths, one)
		if steps += len(one); steps > maxSteps {
			return nil, p.errorf("more than %d steps", maxSteps)
		}
		if p.tok.kind != "|" {
			break
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if p.tok.kind != tokenEnd {
		return nil, p.unexpected("/, [, | or the end")
	}
	return paths, nil
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

func (p *parser) errorf(format string, args ...any) error {
	return syntaxError(p.expr, p.tok.off, format, args...)
}

// unexpected returns the error for a token that can't be here.
func (p *parser) unexpected(want string) error {
	switch p.tok.kind {
	case "::":
		return p.errorf("axes are not supported: there are /, // and @")
	case ".", "..":
		return p.errorf("%v is not supported: a path leads downward only", p.tok)
	}
	return p.errorf("%v: want %s", p.tok, want)
}

// expect reads a token that must be here.
func (p *parser) expect(kind tokenKind) error {
	if p.tok.kind != kind {
		return p.unexpected(string(kind))
	}
	return p.advance()
}

func (p *parser) absolute() (path, error) {
	if p.tok.kind == "(" {
		return p.nthOfAll()
	}
	if p.tok.kind != "/" && p.tok.kind != "//" {
		return nil, p.unexpected("a path, which begins with / or //")
	}
	return p.steps(nil)
}

// nthOfAll is a path that begins with one in parentheses and a place among all that it
// leads to.
func (p *parser) nthOfAll() (path, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == "(" {
		return nil, p.errorf("parentheses in parentheses: want a path, which begins with / or //")
	}
	so, err := p.absolute()
	if err != nil {
		return nil, err
	}
	at := p.tok.off
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	last := &so[len(so)-1]
	if last.attribute {
		return nil, syntaxError(p.expr, at, "a place among attributes is not supported")
	}
	if err := p.expect("["); err != nil {
		return nil, err
	}
	if p.tok.kind != tokenNumber {
		return nil, p.unexpected("a place, such as 1")
	}
	if last.nth, err = p.position(p.tok.text, p.tok.off); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("]"); err != nil {
		return nil, err
	}
	return p.steps(so)
}

// relative is a path in a predicate. Its first step has nothing before it.
func (p *parser) relative() (path, error) {
	first, err := p.step(false)
	if err != nil {
		return nil, err
	}
	return p.steps(path{first})
}

// steps adds the steps that follow, each with its / or //.
func (p *parser) steps(so path) (path, error) {
	for p.tok.kind == "/" || p.tok.kind == "//" {
		if len(so) > 0 && so[len(so)-1].attribute {
			return nil, p.errorf("%v: nothing is below an attribute or a text", p.tok)
		}
		if len(so) == maxSteps {
			return nil, p.errorf("more than %d steps", maxSteps)
		}
		deep := p.tok.kind == "//"
		if err := p.advance(); err != nil {
			return nil, err
		}
		s, err := p.step(deep)
		if err != nil {
			return nil, err
		}
		so = append(so, s)
	}
	return so, nil
}

func (p *parser) step(deep bool) (step, error) {
	s := step{deep: deep}
	if p.tok.kind == "@" {
		s.attribute = true
		if err := p.advance(); err != nil {
			return s, err
		}
	}
	tok := p.tok
	switch tok.kind {
	case "*":
		s.any = true
	case tokenName, tokenBraced:
		s.name = tok.text
	default:
		return s, p.unexpected("a name, *, @ or text()")
	}
	if err := p.advance(); err != nil {
		return s, err
	}
	switch {
	case p.tok.kind == "(" && tok.kind == tokenName && tok.text == "text" && !s.attribute:
		s.attribute, s.name = true, textName
		if err := p.noArguments(); err != nil {
			return s, err
		}
	case p.tok.kind == "(":
		return s, syntaxError(p.expr, tok.off, "%v is no function that is supported here", tok)
	case p.tok.kind == "::":
		return s, p.unexpected("")
	}
	return s, p.predicates(&s)
}

// noArguments reads the parentheses of a function without arguments.
func (p *parser) noArguments() error {
	if err := p.expect("("); err != nil {
		return err
	}
	return p.expect(")")
}

func (p *parser) predicates(s *step) error {
	for p.tok.kind == "[" {
		if s.attribute {
			return p.errorf("a predicate on an attribute or a text is not supported: put it on the node, as in A[@b=1]/@b")
		}
		if len(s.predicates) == maxPredicates {
			return p.errorf("more than %d predicates on one step", maxPredicates)
		}
		c, err := p.predicate()
		if err != nil {
			return err
		}
		s.predicates = append(s.predicates, c)
	}
	return nil
}

// predicate reads a predicate in brackets.
func (p *parser) predicate() (*condition, error) {
	if err := p.expect("["); err != nil {
		return nil, err
	}
	at := p.tok.off
	o, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != "]" {
		return nil, p.unexpected("], and, or, or a comparison")
	}
	c, err := p.truth(o, at, true)
	if err != nil {
		return nil, err
	}
	return c, p.advance()
}

// position reads a position of an expression.
func (p *parser) position(text string, off int) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, syntaxError(p.expr, off, "%s is no position: want a whole number from 1 on", shown.Quote(text))
	}
	return int(n), nil
}
