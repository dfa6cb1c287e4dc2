package dctree

import (
	"fmt"
	"strconv"
	"strings"
)

// Names of the data center become names of files like this, so that each can be
// told back:
//
//	%                         %25
//	/ and NUL                 %2F, %00
//	the dot of a final .N     %2E, since Name.N is the N-th sibling
//	a leading dot             %2E, which . and .. are cases of; files that
//	                          begin with a dot are an editor's, not data
//	a trailing ~              %7E, for the same reason
//	a leading @               %40, since @name is an attribute
//	no name at all            %
//	longer than 255 bytes     the start, and %~ and the name's index
//
// The last leaves room for a sibling number and for the @.
const (
	maxName   = 255
	maxSuffix = len("@.65534")
)

// escape spells the name with the given index in the file.
func escape(name string, index int) string {
	if name == "" {
		return "%"
	}
	var b strings.Builder
	last := len(name) - 1
	number := numberDot(name)
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '%' || c == '/' || c == 0,
			i == 0 && (c == '.' || c == '@'),
			i == last && c == '~',
			i == number:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	if b.Len() > maxName-maxSuffix {
		return shorten(b.String(), index)
	}
	return b.String()
}

// shorten keeps the start of a name that is too long. It cuts between
// characters and between escapes.
func shorten(name string, index int) string {
	tail := "%~" + strconv.Itoa(index)
	cut := maxName - maxSuffix - len(tail)
	for name[cut]&0xc0 == 0x80 {
		cut--
	}
	if i := strings.LastIndexByte(name[:cut], '%'); i > cut-3 && i >= 0 {
		cut = i
	}
	return name[:cut] + tail
}

// numberDot is the place of the dot of a final .N; -1 if there is none.
func numberDot(name string) int {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if i == len(name) || i == 0 || name[i-1] != '.' {
		return -1
	}
	return i - 1
}

// splitOrdinal takes a directory's name apart: Name.3 is the sibling that has
// three of its name before it, Name the one that has none. ok is false for a
// number that no directory has, such as .0 or .01.
func splitOrdinal(file string) (name string, ordinal int, ok bool) {
	dot := numberDot(file)
	if dot < 0 {
		return file, 0, true
	}
	digits := file[dot+1:]
	n, err := strconv.Atoi(digits)
	return file[:dot], n, err == nil && digits[0] != '0'
}

// unescape is the inverse of escape for names that are not shortened. ok is
// false for what escape would spell otherwise: no name may have two spellings.
func unescape(file string) (name string, ok bool) {
	if file == "%" {
		return "", true
	}
	b := make([]byte, 0, len(file))
	for i := 0; i < len(file); i++ {
		if file[i] != '%' {
			b = append(b, file[i])
			continue
		}
		if len(file)-i < 3 {
			return "", false
		}
		c, err := strconv.ParseUint(file[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b = append(b, byte(c))
		i += 2
	}
	name = string(b)
	return name, escape(name, 0) == file
}

// isScratch tells whether a file of that name is an editor's, and no data.
func isScratch(file string) bool {
	return strings.HasPrefix(file, ".") || strings.HasSuffix(file, "~")
}
