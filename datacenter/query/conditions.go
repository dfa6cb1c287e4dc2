package query

import "strings"

// operandKind is the kind of an operand.
type operandKind uint8

const (
	operandCondition operandKind = iota // true or false
	operandPath
	operandValue
	operandPosition // position()
	operandLast     // last()
)

// operand is a part of a predicate. Its meaning depends on what follows.
type operand struct {
	kind      operandKind
	condition *condition
	path      path
	value     literal
}

// truth makes a condition of an operand without comparison. A number and last() are
// conditions only if whole is set: if the operand is the whole predicate.
func (p *parser) truth(o operand, off int, whole bool) (*condition, error) {
	switch o.kind {
	case operandCondition:
		return o.condition, nil
	case operandPath:
		return &condition{op: opExists, path: o.path}, nil
	case operandLast:
		if whole {
			return &condition{op: opLast, compare: equal}, nil
		}
		return nil, syntaxError(p.expr, off, "last() among conditions: want position()=last()")
	case operandPosition:
		return nil, syntaxError(p.expr, off, "position() has to be compared to something")
	}
	if !o.value.bare {
		return nil, syntaxError(p.expr, off, "a value alone is no condition: want a path to compare it to")
	}
	if !whole {
		return nil, syntaxError(p.expr, off, "a number among conditions: want position()=%s", o.value.text)
	}
	n, err := p.position(o.value.text, off)
	return &condition{op: opPosition, compare: equal, number: n}, err
}

func (p *parser) or() (operand, error) { return p.chain("or", opOr, p.and) }

func (p *parser) and() (operand, error) { return p.chain("and", opAnd, p.comparison) }

// chain reads one or more parts, with a word between them.
func (p *parser) chain(word string, op operator, part func() (operand, error)) (operand, error) {
	at := p.tok.off
	first, err := part()
	if err != nil || !p.isWord(word) {
		return first, err
	}
	c, err := p.truth(first, at, false)
	if err != nil {
		return operand{}, err
	}
	all := &condition{op: op, kids: []*condition{c}}
	for p.isWord(word) {
		if err := p.advance(); err != nil {
			return operand{}, err
		}
		at := p.tok.off
		o, err := part()
		if err != nil {
			return operand{}, err
		}
		if c, err = p.truth(o, at, false); err != nil {
			return operand{}, err
		}
		all.kids = append(all.kids, c)
	}
	return operand{condition: all}, nil
}

func (p *parser) isWord(word string) bool { return p.tok.kind == tokenName && p.tok.text == word }

// comparison reads an operand, or two that are compared.
func (p *parser) comparison() (operand, error) {
	x, err := p.operand()
	if err != nil {
		return x, err
	}
	compare, ok := comparisons[p.tok.kind]
	if !ok {
		return x, nil
	}
	at := p.tok.off
	if err := p.advance(); err != nil {
		return x, err
	}
	begin := p.tok.off
	y, err := p.operand()
	if err != nil {
		return y, err
	}
	text := strings.TrimSpace(p.expr[begin:p.tok.off])
	if x.kind == operandValue || x.kind == operandLast {
		x, y, compare = y, x, compare.flip()
	}
	c := &condition{compare: compare}
	switch {
	case x.kind == operandPath && y.kind == operandValue:
		c.op, c.path, c.value = opCompare, x.path, y.value
	case x.kind == operandPosition && y.kind == operandLast:
		c.op = opLast
	case x.kind == operandPosition && y.kind == operandValue && y.value.bare:
		c.op = opPosition
		if c.number, err = p.position(y.value.text, at); err != nil {
			return x, err
		}
	case x.kind == operandPath && y.kind == operandPath && !strings.HasPrefix(text, "@"):
		return x, syntaxError(p.expr, at, "want a path and a value to compare: if %[1]s is a text, write '%[1]s'", text)
	default:
		return x, syntaxError(p.expr, at, "want a path and a value, or position() and a number or last(), to compare")
	}
	return operand{condition: c}, nil
}

// operand reads what can stand on one side of a comparison.
func (p *parser) operand() (operand, error) {
	tok := p.tok
	switch tok.kind {
	case tokenText, tokenNumber:
		return operand{kind: operandValue, value: newLiteral(tok.text, tok.kind == tokenNumber)}, p.advance()
	case "(":
		return p.parenthesized()
	case "/", "//":
		return operand{}, p.errorf("a path in a predicate begins at the node: want no %v before it", tok)
	case tokenName:
		return p.word()
	}
	return p.pathOperand()
}

func (p *parser) pathOperand() (operand, error) {
	if err := p.nest(); err != nil {
		return operand{}, err
	}
	defer p.unnest()
	so, err := p.relative()
	return operand{kind: operandPath, path: so}, err
}

// word reads an operand that begins with a name: a function, a value or a path.
func (p *parser) word() (operand, error) {
	before, tok := p.lexer, p.tok
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	call := p.tok.kind == "("
	switch {
	case tok.text == "true" || tok.text == "false":
		if call {
			return operand{kind: operandValue, value: newLiteral(tok.text, false)}, p.noArguments()
		}
		if p.tok.kind != "/" && p.tok.kind != "//" && p.tok.kind != "[" {
			return operand{kind: operandValue, value: newLiteral(tok.text, false)}, nil
		}
	case call && tok.text == "position":
		return operand{kind: operandPosition}, p.noArguments()
	case call && tok.text == "last":
		return operand{kind: operandLast}, p.noArguments()
	case call && tok.text == "not":
		o, err := p.parenthesized()
		return operand{condition: &condition{op: opNot, kids: []*condition{o.condition}}}, err
	case call && tok.text == "contains":
		return p.textFunction(opContains)
	case call && tok.text == "starts-with":
		return p.textFunction(opStartsWith)
	}
	p.lexer, p.tok = before, tok
	return p.pathOperand()
}

// parenthesized reads a condition in parentheses.
func (p *parser) parenthesized() (operand, error) {
	if err := p.nest(); err != nil {
		return operand{}, err
	}
	defer p.unnest()
	if err := p.expect("("); err != nil {
		return operand{}, err
	}
	at := p.tok.off
	o, err := p.or()
	if err != nil {
		return o, err
	}
	c, err := p.truth(o, at, false)
	if err != nil {
		return o, err
	}
	return operand{condition: c}, p.expect(")")
}

// textFunction reads the arguments of contains or starts-with.
func (p *parser) textFunction(op operator) (operand, error) {
	if err := p.expect("("); err != nil {
		return operand{}, err
	}
	o, err := p.pathOperand()
	if err != nil {
		return o, err
	}
	if err := p.expect(","); err != nil {
		return o, err
	}
	if p.tok.kind != tokenText {
		return o, p.unexpected("a text in quotes")
	}
	c := &condition{op: op, path: o.path, value: newLiteral(p.tok.text, false)}
	if err := p.advance(); err != nil {
		return o, err
	}
	return operand{condition: c}, p.expect(")")
}

func (p *parser) nest() error {
	if p.nesting == maxNesting {
		return p.errorf("nested deeper than %d", maxNesting)
	}
	p.nesting++
	return nil
}

func (p *parser) unnest() { p.nesting-- }
