package xmltext

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"lorefs/internal/shown"
	"lorefs/internal/wtf8"
)

var (
	markUTF8    = []byte("\xef\xbb\xbf")
	markUTF16LE = []byte("\xff\xfe")
	markUTF16BE = []byte("\xfe\xff")
)

// decode returns the text of a file as UTF-8 without a byte order mark. It shares the
// memory of data unless that is UTF-16.
func decode(data []byte) (text []byte, encoding string) {
	switch {
	case bytes.HasPrefix(data, markUTF8):
		return data[len(markUTF8):], "utf-8"
	case bytes.HasPrefix(data, markUTF16LE):
		return wtf8.Append(nil, data[len(markUTF16LE):]), "utf-16"
	case bytes.HasPrefix(data, markUTF16BE):
		units := data[len(markUTF16BE):]
		swapped := make([]byte, 0, len(units))
		for ; len(units) > 1; units = units[2:] {
			swapped = binary.LittleEndian.AppendUint16(swapped, binary.BigEndian.Uint16(units))
		}
		return wtf8.Append(nil, swapped), "utf-16"
	}
	return data, "utf-8"
}

// badCharacter finds the first invalid character beyond ASCII. The scanner finds misplaced
// control characters. ok is false if there is none.
func badCharacter(text []byte) (off int, what string, ok bool) {
	if !utf8.Valid(text) {
		for off < len(text) {
			r, n := utf8.DecodeRune(text[off:])
			if r == utf8.RuneError && n == 1 {
				return off, fmt.Sprintf("the byte %#02x is not UTF-8", text[off]), true
			}
			off += n
		}
	}
	for _, r := range []string{"\ufffe", "\uffff"} {
		if i := bytes.Index(text, []byte(r)); i >= 0 {
			return i, fmt.Sprintf("%U is no character of XML", []rune(r)[0]), true
		}
	}
	return 0, "", false
}

// declaration reads the XML declaration, if there is one: version, encoding and standalone,
// in this order.
func (x *Reader) declaration() error {
	const open = "<?xml"
	if !bytes.HasPrefix(x.Data, []byte(open)) || len(x.Data) == len(open) || class[x.Data[len(open)]]&isSpace == 0 {
		return nil
	}
	x.pos = len(open)
	for _, name := range []string{"version", "encoding", "standalone"} {
		x.skipSpace()
		if !bytes.HasPrefix(x.Data[x.pos:], []byte(name)) {
			if name == "version" {
				return x.Errorf(x.pos, "the XML declaration begins with its version")
			}
			continue
		}
		x.pos += len(name)
		at, value, err := x.declared()
		if err != nil {
			return err
		}
		switch {
		case name == "version" && string(value) != "1.0":
			return x.Errorf(at, "XML %s: want 1.0", value)
		case name == "encoding" && !x.isEncoding(string(value)):
			return x.Errorf(at, "encoding %s, but the file is read as %s: convert it to UTF-8, such as by iconv(1)", shown.Quote(value), x.encoding)
		}
	}
	x.skipSpace()
	if !bytes.HasPrefix(x.Data[x.pos:], []byte("?>")) {
		return x.Errorf(x.pos, "want ?> at the end of the XML declaration")
	}
	x.pos += len("?>")
	return nil
}

// declared reads the value of a part of the declaration, which has no references.
func (x *Reader) declared() (at int, value []byte, err error) {
	if err := x.equals(); err != nil {
		return 0, nil, err
	}
	at = x.pos + 1
	value, raw, err := x.value()
	if err == nil && !raw {
		err = x.Errorf(at, "a reference in the XML declaration")
	}
	return at, value, err
}

func (x *Reader) isEncoding(name string) bool {
	name = strings.ToLower(name)
	return name == x.encoding || name == "us-ascii" && x.encoding == "utf-8"
}

// UnitSize returns how many bytes a character of XML's syntax takes in a file.
func UnitSize(data []byte) int {
	if bytes.HasPrefix(data, markUTF16LE) || bytes.HasPrefix(data, markUTF16BE) {
		return 2
	}
	return 1
}
