package shown_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"lorefs/internal/shown"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"plain, größer, 한글\u3000\u00a0": "plain, größer, 한글\u3000\u00a0",
		`C:\Games "x"`:                  `C:\Games "x"`,
		"\x1b[2J\x1b]0;x\a":             `\u001b[2J\u001b]0;x\u0007`,
		"\u009b31m\x7f":                 `\u009b31m\u007f`,
		"\x9b31m\xed\xa0\x80":           `\x9b31m\xed\xa0\x80`,
		"a\nb\tc\rd\x00":                `a\nb\tc\rd\u0000`,
		"\u202egpj\u2066\u200f\u2028":   `\u202egpj\u2066\u200f\u2028`,
		"\U000e0041\ufeff\u200b\ufffd":  `\U000e0041\ufeff\u200b` + "\ufffd",
	} {
		if got := shown.Text(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// fit reports whether a text is safe for a terminal.
func fit(text string, lines bool) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && (!lines || r != '\n' && r != '\t')
	})
}

// TestAnyText checks that nothing harmful passes, whatever the text and however it is cut,
// and that harmless text stays as it is.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.OneOf(
			rapid.SliceOf(rapid.Byte()),
			rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }),
		).Draw(t, "text"))
		if got := shown.Text(text); !fit(got, false) {
			t.Errorf("%q: %q", text, got)
		}
		var whole, parts, formatted bytes.Buffer
		w := shown.NewWriter(&whole)
		if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
			t.Error(err)
		}
		if !fit(whole.String(), true) {
			t.Errorf("%q: written %q", text, whole.String())
		}
		w = shown.NewWriter(&parts)
		if n, err := io.Copy(w, iotest.OneByteReader(strings.NewReader(text))); err != nil || n != int64(len(text)) || w.Close() != nil {
			t.Error(n, err)
		}
		if parts.String() != whole.String() {
			t.Errorf("%q: byte by byte %q, at once %q", text, parts.String(), whole.String())
		}
		shown.Fprintf(&formatted, "%s|%v|%q|%x", text, errors.New(text), text, []byte(text))
		if want := fmt.Sprintf("%s|%s|%q|%x", shown.Text(text), shown.Text(text), text, text); formatted.String() != want {
			t.Errorf("%q: %q, want %q", text, formatted.String(), want)
		}
		if got := shown.Quote(text); len(got) > 60 || !fit(got, false) {
			t.Errorf("%q: %s", text, got)
		}
	})
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":                         `""`,
		`a "b"`:                    `"a \"b\""`,
		strings.Repeat("x", 47):    `"` + strings.Repeat("x", 47) + `"`,
		strings.Repeat("x", 9999):  `"` + strings.Repeat("x", 47) + `"…`,
		strings.Repeat("한", 99):    `"` + strings.Repeat("한", 15) + `"…`,
		strings.Repeat("\xff", 99): `"` + strings.Repeat(`\xff`, 11) + `"…`,
	} {
		if got := shown.Quote(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if got := shown.Quote([]byte(text)); got != want {
			t.Errorf("%q as bytes: %s, want %s", text, got, want)
		}
	}
}

// TestWriterFails checks that an error of writing is returned, and that writing goes on
// behind it.
func TestWriterFails(t *testing.T) {
	w := shown.NewWriter(broken{})
	if _, err := w.Write([]byte("a\xc3")); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestKind(t *testing.T) {
	for mode, want := range map[iofs.FileMode]string{
		0: "a regular file", iofs.ModeDir: "a directory", iofs.ModeDevice | iofs.ModeCharDevice: "a device",
		iofs.ModeNamedPipe: "a pipe", iofs.ModeSocket: "a socket", iofs.ModeSymlink: "a link", iofs.ModeIrregular: "a special file",
	} {
		if got := shown.Kind(mode | 0o644); got != want {
			t.Errorf("%v: %s, want %s", mode, got, want)
		}
	}
}
