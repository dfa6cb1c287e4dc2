package casctree

import (
	"bytes"
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parts of names become names of files like this, reversibly:
//
//	%                       %25
//	NUL                     %00
//	. and ..                %2E and %2E%2E
//	no name at all          %
//	longer than 240 bytes   the start, and %~x and a hash of 16 digits
//
// A number may follow: see appendOrdinal.
const (
	maxName = 255
	maxPart = 240
)

// appendEscaped appends the spelling of a part of a name.
func appendEscaped[S string | []byte](dst []byte, part S) []byte {
	from := len(dst)
	switch string(part) {
	case "":
		return append(dst, '%')
	case ".":
		return append(dst, "%2E"...)
	case "..":
		return append(dst, "%2E%2E"...)
	}
	for i := range len(part) {
		switch c := part[i]; c {
		case '%':
			dst = append(dst, "%25"...)
		case 0:
			dst = append(dst, "%00"...)
		case '/':
			dst = append(dst, "%2F"...) // of tags: all other names were split there
		default:
			dst = append(dst, c)
		}
	}
	if len(dst)-from > maxPart {
		return shorten(dst, from, part)
	}
	return dst
}

// shorten shortens the name that begins at from. It cuts between characters and between
// escapes.
func shorten[S string | []byte](dst []byte, from int, part S) []byte {
	h := fnv.New64a()
	_, _ = h.Write([]byte(part)) // it never fails
	cut := maxPart - len("%~x") - hex.EncodedLen(h.Size())
	name := dst[from:]
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	if i := bytes.LastIndexByte(name[:cut], '%'); i >= 0 && i > cut-3 {
		cut = i
	}
	dst = append(dst[:from+cut], "%~x"...)
	return hex.AppendEncode(dst, h.Sum(nil))
}

// appendOrdinal appends the number that distinguishes files of one name, from 2 on, or 0
// for a file that has the name of a directory.
func appendOrdinal(name []byte, n int) []byte {
	return strconv.AppendInt(append(name, "%~"...), int64(n), 10)
}

// isLegal reports whether a file can have the name.
func isLegal(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName && !strings.ContainsAny(name, "/\x00")
}

// appendFolded appends a name in lower case. Bytes that are not UTF-8 stay.
func appendFolded(dst []byte, name []byte) []byte {
	for len(name) > 0 {
		c := name[0]
		if c < utf8.RuneSelf {
			dst, name = append(dst, lower(c)), name[1:]
			continue
		}
		r, n := utf8.DecodeRune(name)
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, c)
		} else {
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		name = name[n:]
	}
	return dst
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// compareFolded compares names in lower case.
func compareFolded(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y && x < utf8.RuneSelf {
			continue
		}
		if x >= utf8.RuneSelf || y >= utf8.RuneSelf {
			return compareRunes(a[i:], b[i:])
		}
		if x, y = lower(x), lower(y); x != y {
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

// compareRunes is compareFolded for names that are not all ASCII.
func compareRunes(a, b []byte) int {
	var space [2 * maxName]byte
	x := appendFolded(space[:0:maxName], a)
	y := appendFolded(space[maxName:maxName], b)
	return bytes.Compare(x, y)
}

// compareNames orders the entries of a directory.
func compareNames(a, b []byte) int {
	if c := compareFolded(a, b); c != 0 {
		return c
	}
	return bytes.Compare(a, b)
}
