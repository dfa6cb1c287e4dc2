package query

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lorefs/internal/shown"
)

// tokenKind is the kind of a token. Signs are their own spelling.
type tokenKind string

const (
	tokenEnd    tokenKind = "the end"
	tokenName   tokenKind = "a name"
	tokenBraced tokenKind = "a name in braces"
	tokenText   tokenKind = "a text"
	tokenNumber tokenKind = "a number"
)

// token is one part of an expression.
type token struct {
	kind tokenKind
	text string // the content of a name, a text or a number
	off  int    // where it begins, in bytes
}

// String returns the token's name in errors.
func (t token) String() string {
	const most = 40
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenName, tokenNumber:
		return fmt.Sprintf("%.*q", most, t.text)
	case tokenBraced, tokenText:
		return fmt.Sprintf("%s %.*q", t.kind, most, t.text)
	}
	return fmt.Sprintf("%q", string(t.kind))
}

// signs are all other tokens, the longer ones first.
var signs = []tokenKind{
	"::", "//", "!=", "<=", ">=", "..", "/", "=", "<", ">", "@", "*", "[", "]", "(", ")", "|", ",", ".",
}

// lexer splits an expression into tokens.
type lexer struct {
	expr string
	off  int
}

func (l *lexer) next() (token, error) {
	for l.off < len(l.expr) && strings.IndexByte(" \t\r\n", l.expr[l.off]) >= 0 {
		l.off++
	}
	rest := l.expr[l.off:]
	if rest == "" {
		return token{kind: tokenEnd, off: l.off}, nil
	}
	switch c := rest[0]; {
	case isNameStart(c):
		return l.take(tokenName, lenWhile(rest, isNamePart)), nil
	case startsNumber(rest):
		return l.number()
	case c == '\'' || c == '"':
		return l.quoted(tokenText, c, "the text")
	case c == '{':
		return l.quoted(tokenBraced, '}', "the name")
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, string(s)) {
			return l.take(s, len(s)), nil
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return token{}, syntaxError(l.expr, l.off, "%q means nothing here: a name that has it is put in braces", r)
}

func (l *lexer) take(kind tokenKind, n int) token {
	t := token{kind: kind, text: l.expr[l.off : l.off+n], off: l.off}
	l.off += n
	return t
}

// number reads a number as in XPath, but also with a sign and an exponent.
func (l *lexer) number() (token, error) {
	rest := l.expr[l.off:]
	n := 0
	if rest[0] == '-' {
		n++
	}
	n += lenWhile(rest[n:], func(c byte) bool { return isDigit(c) || c == '.' })
	if n < len(rest) && (rest[n] == 'e' || rest[n] == 'E') {
		exp := n + 1
		if exp < len(rest) && (rest[exp] == '-' || rest[exp] == '+') {
			exp++
		}
		n = exp + lenWhile(rest[exp:], isDigit)
	}
	t := l.take(tokenNumber, n)
	if _, ok := parseNumber(t.text); !ok || l.off < len(l.expr) && isNamePart(l.expr[l.off]) {
		return t, syntaxError(l.expr, t.off, "%s begins like a number but is none: put a name like this in braces", shown.Quote(t.text))
	}
	return t, nil
}

// quoted reads what lies between an opening mark and end. A doubled end stands for itself.
func (l *lexer) quoted(kind tokenKind, end byte, what string) (token, error) {
	t := token{kind: kind, off: l.off}
	var b strings.Builder
	for i := l.off + 1; i < len(l.expr); i++ {
		c := l.expr[i]
		if c == end {
			if i+1 == len(l.expr) || l.expr[i+1] != end {
				t.text, l.off = b.String(), i+1
				return t, nil
			}
			i++
		}
		b.WriteByte(c)
	}
	return t, syntaxError(l.expr, l.off, "%s that begins here has no end: want %q", what, end)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isNameStart accepts everything that is not ASCII as letters, including lone surrogates in
// WTF-8.
func isNameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isNamePart(c byte) bool { return isNameStart(c) || isDigit(c) || c == '-' || c == '.' }

func startsNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	s = strings.TrimPrefix(s, ".")
	return s != "" && isDigit(s[0])
}

func lenWhile(s string, is func(byte) bool) (n int) {
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

// AppendText spells a text as an expression does.
func AppendText(dst []byte, text string) []byte {
	quote := "'"
	if strings.Contains(text, quote) {
		quote = `"`
	}
	dst = append(dst, quote...)
	dst = append(dst, strings.ReplaceAll(text, quote, quote+quote)...)
	return append(dst, quote...)
}

// AppendName spells a name as an expression does.
func AppendName(dst []byte, name string) []byte {
	if name != "" && isNameStart(name[0]) && lenWhile(name, isNamePart) == len(name) {
		return append(dst, name...)
	}
	dst = append(dst, '{')
	dst = append(dst, strings.ReplaceAll(name, "}", "}}")...)
	return append(dst, '}')
}
