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
	// MaxSpelled is the size in bytes of the longest spelling of a name.
	MaxSpelled = maxName - maxSuffix
)

// Names spells the names of one file.
type Names struct {
	escaped []string // by name index, from 1 on
	indexes map[string]uint16
}

// NewNames spells the names of f. It fails if two of them are the same text, since then two
// entries of a directory could have one path.
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

// Index returns the index of a name, or 0 if the file does not have it.
func (n *Names) Index(name string) uint16 { return n.indexes[name] }

// Escaped returns the spelling of the name with an index.
func (n *Names) Escaped(index uint16) string { return n.escaped[index] }

// Escape spells the name with the given index in its file:
//
//	%                         %25
//	/ and NUL                 %2F, %00
//	the dot of a final .N     %2E, since Name.N is the N-th sibling
//	a leading dot             %2E, also in . and ..
//	a trailing ~              %7E, since editors give such names to their backups
//	a leading @               %40, since @name is an attribute
//	no name at all            %
//	longer than 255 bytes     the start, and %~ and the name's index
//
// The limit leaves room for a sibling number and for the @.
func Escape(name string, index int) string { return EscapeWithin(name, index, MaxSpelled) }

// EscapeWithin is Escape for a spelling of at most most bytes.
func EscapeWithin(name string, index, most int) string {
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
	if b.Len() > most {
		return shorten(b.String(), index, most)
	}
	return b.String()
}

// shorten keeps the start of a name that is too long. It cuts between characters and
// between escapes.
func shorten(name string, index, most int) string {
	tail := "%~" + strconv.Itoa(index)
	cut := most - len(tail)
	for name[cut]&0xc0 == 0x80 {
		cut--
	}
	if i := strings.LastIndexByte(name[:cut], '%'); i > cut-3 && i >= 0 {
		cut = i
	}
	return name[:cut] + tail
}

// numberDot returns the place of the dot of a final .N, or -1.
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

// SplitOrdinal splits a directory's name into a name and the number of siblings of that name
// before it: 3 for Name.3, 0 for Name. ok is false for a number that no directory has, such
// as .0 or .01.
func SplitOrdinal(file string) (name string, ordinal int, ok bool) {
	dot := numberDot(file)
	if dot < 0 {
		return file, 0, true
	}
	digits := file[dot+1:]
	n, err := strconv.Atoi(digits)
	return file[:dot], n, err == nil && digits[0] != '0'
}

// Unescape is the inverse of Escape for names that are not shortened. ok is false for a
// spelling that Escape does not make, so that no name has two spellings.
func Unescape(file string) (name string, ok bool) {
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
	return name, Escape(name, 0) == file
}
