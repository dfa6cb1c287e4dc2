package treepath

import (
	"fmt"
	"strconv"
	"strings"

	"lorefs/datacenter"
)

const (
	maxName   = 255
	maxSuffix = len("@.65534")
)

// Names spells the names of one file.
type Names struct {
	escaped []string // by name index, from 1 on
	indexes map[string]uint16
}

// NewNames spells the names of f. It fails if two of them are the same text, since
// then two entries of a directory could have one path.
func NewNames(f *datacenter.File) (*Names, error) {
	texts := f.Names()
	n := &Names{escaped: make([]string, len(texts)+1), indexes: make(map[string]uint16, len(texts))}
	for i, text := range texts {
		if first, twice := n.indexes[text]; twice {
			return nil, fmt.Errorf("names %d and %d of the data center are both %q: want each once", first, i+1, text)
		}
		n.indexes[text] = uint16(i + 1)
		n.escaped[i+1] = Escape(text, i+1)
	}
	return n, nil
}

// Index is the index of a name; 0 if the file does not have it.
func (n *Names) Index(name string) uint16 { return n.indexes[name] }

// Escaped is the spelling of the name with an index that the file has.
func (n *Names) Escaped(index uint16) string { return n.escaped[index] }

// Escape spells the name with the given index in its file:
//
//	%                         %25
//	/ and NUL                 %2F, %00
//	the dot of a final .N     %2E, since Name.N is the N-th sibling
//	a leading dot             %2E, which . and .. are cases of
//	a trailing ~              %7E, since such files are an editor's
//	a leading @               %40, since @name is an attribute
//	no name at all            %
//	longer than 255 bytes     the start, and %~ and the name's index
//
// The last leaves room for a sibling number and for the @.
func Escape(name string, index int) string {
	if name == "" {
		return "%"
	}
	var b strings.Builder
	last, number := len(name)-1, numberDot(name)
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
