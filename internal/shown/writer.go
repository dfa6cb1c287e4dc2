package shown

import (
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// Fprintf is [fmt.Fprintf] for messages and reports. Its arguments can't break a line, a
// column, or the terminal. %q escapes by itself.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	texts := make([]any, len(args))
	for i, a := range args {
		texts[i] = a
		switch a.(type) {
		case string, []byte, error, fmt.Stringer:
			texts[i] = argument{a}
		}
	}
	return fmt.Fprintf(w, format, texts...)
}

// argument is an argument that is escaped after formatting.
type argument struct{ of any }

// Format implements [fmt.Formatter].
func (a argument) Format(s fmt.State, verb rune) {
	_, _ = io.WriteString(s, Text(fmt.Sprintf(fmt.FormatString(s, verb), a.of))) // a fmt.State takes all
}

// Writer escapes everything that is written but ends of lines and tabs. It is for data on a
// terminal, and for messages that should have been escaped before.
type Writer struct {
	to io.Writer

	// mu guards the fields below, and serializes writes.
	mu sync.Mutex
	// begun is the beginning of a character at the end of the last Write.
	begun []byte
	buf   []byte
}

// NewWriter makes a writer to w. Only a text that ends within a character needs Close.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Through puts a filter between w and where it writes, for what w would escape.
func (w *Writer) Through(filter func(io.Writer) io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = filter(w.to)
}

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.begun, p...)
	end := wholeCharacters(text)
	w.begun = text[end:]
	w.buf = appendText(w.buf[:0], text[:end], isEscapedInLines)
	if _, err := w.to.Write(w.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what is left. It does not close the underlying writer.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.to.Write(appendText(nil, w.begun, isEscapedInLines))
	w.begun = nil
	return err
}

// wholeCharacters returns the length of a text without a character at its end that more
// bytes could complete.
func wholeCharacters(text []byte) int {
	for i := len(text) - 1; i >= max(len(text)-utf8.UTFMax+1, 0); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}
