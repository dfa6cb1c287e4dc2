// Package wrap breaks text into lines for a terminal.
package wrap

import (
	"strings"
	"unicode/utf8"
)

// Hang returns a text behind a front, wrapped to a width, with its other lines below the first.
func Hang(front, text string, width int) string {
	var b strings.Builder
	b.WriteString(front)
	indent := utf8.RuneCountInString(front)
	at := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
