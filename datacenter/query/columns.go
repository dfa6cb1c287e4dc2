package query

import (
	"slices"
	"strings"
)

// Columns are what a table has of each node or attribute that a query finds. They are safe for
// parallel use.
type Columns struct{ list []column }

// column is one of them.
type column struct {
	name string
	path path // of attributes; empty for a function
	function
	// falling is set in a list of columns to sort by.
	falling bool
}

// function is what a column has that no path leads to.
type function uint8

const (
	noFunction    function = iota
	pathFunction           // the path below tree/
	nameFunction           // the name
	valueFunction          // the value of an attribute, or the text of a node
	allFunction            // all attributes
)

var functions = map[string]function{"path": pathFunction, "name": nameFunction, "value": valueFunction}

// column returns the name of the column, which has no brackets: many programs would want quotes.
func (f function) column() string {
	for name, of := range functions {
		if of == f {
			return "_" + name
		}
	}
	return "*"
}

// maxColumns bounds the columns that are written down.
const maxColumns = 1024

// CompileColumns parses a list of columns with commas between them:
//
//	column = [ steps "/" ] [ "@" ] name | [ steps "/" ] "text()"
//	       | "path()" | "name()" | "value()" | "*"
//
// The last name is always that of an attribute, with or without @. The steps before lead to
// nodes below, of which the first one counts that has the attribute. For an attribute that a
// query finds, they begin at the node that has it. path() is the path below tree/, name() the
// name, and value() the value of an attribute or the text of a node; the columns are called _path,
// _name and _value. * is all attributes. The error is a [SyntaxError].
func CompileColumns(text string) (*Columns, error) { return compileColumns(text, false) }

// CompileOrder parses a list of columns to sort by. A - before a column has the largest first.
func CompileOrder(text string) (*Columns, error) { return compileColumns(text, true) }

func compileColumns(text string, order bool) (*Columns, error) {
	if len(text) > maxExpr {
		return nil, syntaxError(text, maxExpr, "the columns have %d bytes: at most %d are supported", len(text), maxExpr)
	}
	p := &parser{lexer: lexer{expr: text}}
	c := &Columns{}
	for {
		falling := order && p.skipMinus()
		if err := p.advance(); err != nil {
			return nil, err
		}
		from := p.tok.off
		one, err := p.column()
		if err != nil {
			return nil, err
		}
		one.falling = falling
		if one.name == "" {
			one.name = strings.TrimSpace(text[from:p.tok.off])
		}
		if order && one.function == allFunction {
			return nil, syntaxError(text, from, "* is many columns: want one to sort by")
		}
		if slices.ContainsFunc(c.list, func(other column) bool { return other.name == one.name }) {
			return nil, syntaxError(text, from, "the column %s comes twice", one.name)
		}
		if c.list = append(c.list, one); len(c.list) > maxColumns {
			return nil, syntaxError(text, from, "more than %d columns", maxColumns)
		}
		if p.tok.kind == tokenEnd {
			return c, nil
		}
		if p.tok.kind != "," {
			return nil, p.unexpected("/, a comma or the end")
		}
	}
}

// skipMinus skips a - before the next token.
func (p *parser) skipMinus() bool {
	rest := strings.TrimLeft(p.expr[p.off:], " ")
	if !strings.HasPrefix(rest, "-") {
		return false
	}
	p.off = len(p.expr) - len(rest) + 1
	return true
}

// column reads a column up to the token behind it.
func (p *parser) column() (c column, err error) {
	if f, ok := functions[p.tok.text]; ok && p.tok.kind == tokenName && strings.HasPrefix(p.expr[p.off:], "(") {
		if err := p.advance(); err != nil {
			return c, err
		}
		return column{name: f.column(), function: f}, p.noArguments()
	}
	from := p.tok.off
	if c.path, err = p.relative(); err != nil {
		return c, err
	}
	last := &c.path[len(c.path)-1]
	if len(last.predicates) > 0 {
		return c, syntaxError(p.expr, from, "a column ends with an attribute or text(): want one behind the brackets, as in A[@b=1]/@c")
	}
	last.attribute = true
	switch {
	case len(c.path) == 1 && last.any:
		return column{name: "*", function: allFunction}, nil
	case last.any:
		return c, syntaxError(p.expr, from, "a column is one attribute: * stands alone")
	case len(c.path) == 1 && last.name != textName:
		c.name = last.name
	}
	return c, nil
}

// Unknown returns the names in columns that are not among some, each once.
func (c *Columns) Unknown(some []string) []string {
	q := &Query{}
	for i := range c.list {
		q.paths = append(q.paths, c.list[i].path)
	}
	return q.Unknown(some)
}

// DefaultColumns are path() and, if a query finds attributes, value(), else all attributes.
func (q *Query) DefaultColumns() *Columns {
	second := allFunction
	if slices.ContainsFunc(q.paths, func(p path) bool { return p[len(p)-1].attribute }) {
		second = valueFunction
	}
	return &Columns{[]column{
		{name: pathFunction.column(), function: pathFunction}, {name: second.column(), function: second},
	}}
}
