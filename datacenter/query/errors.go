package query

import (
	"fmt"
	"unicode/utf8"

	"lorefs/internal/shown"
)

// SyntaxError is an error in an expression.
type SyntaxError struct {
	// Expr is the expression.
	Expr string
	// Column is the place in it, in characters from 1 on; the end is one beyond the length.
	Column int
	// What was found and what was expected.
	What string
}

func (e *SyntaxError) Error() string {
	const most = 200
	expr := e.Expr
	if len(expr) > most {
		expr = expr[:most] + "…"
	}
	return fmt.Sprintf("query: column %d of %s: %s", e.Column, shown.Quote(expr), e.What)
}

// syntaxError returns an error at byte off of an expression.
func syntaxError(expr string, off int, format string, args ...any) error {
	return &SyntaxError{Expr: expr, Column: utf8.RuneCountInString(expr[:off]) + 1, What: fmt.Sprintf(format, args...)}
}
