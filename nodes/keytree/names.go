package keytree

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"sync"

	"lorefs/datacenter/treepath"
)

// maxKeys is the size in bytes of the longest name, without the number of equal ones.
const maxKeys = 255 - len("~4294967295")

// appendValue appends the value of one key to a name. Reserved are the characters that a name
// can't hold, and those that a name has between values and before a number:
//
//	%    %25
//	/    %2F
//	NUL  %00
//	,    %2C
//	~    %7E
func appendValue(name, value []byte) []byte {
	for _, c := range value {
		switch c {
		case '%', '/', 0, ',', '~':
			name = append(name, '%', upperHex[c>>4], upperHex[c&15])
		default:
			name = append(name, c)
		}
	}
	return name
}

const upperHex = "0123456789ABCDEF"

// finishKeys makes a name of the values in name[from:]:
//
//	a leading dot            %2E, also in . and ..
//	nothing at all           %
//	longer than 244 bytes    the start, and %~ and a hash of the whole
func finishKeys(name []byte, from int) []byte {
	switch {
	case len(name) == from:
		return append(name, '%')
	case name[from] == '.':
		name = append(name[:from], append([]byte("%2E"), name[from+1:]...)...)
	}
	if len(name)-from <= maxKeys {
		return name
	}
	h := fnv.New64a()
	_, _ = h.Write(name[from:]) // a hash takes everything
	tail := fmt.Sprintf("%%~%016x", h.Sum64())
	cut := from + maxKeys - len(tail)
	for name[cut]&0xc0 == 0x80 { // within a character
		cut--
	}
	if i := bytes.LastIndexByte(name[from:cut], '%'); i >= 0 && from+i > cut-3 { // within an escape
		cut = from + i
	}
	return append(name[:cut], tail...)
}

// numbered appends the number of a name to the n-th of equal ones.
func numbered(name string, n uint32) string {
	return name + "~" + strconv.FormatUint(uint64(n), 10)
}

// names spells and numbers the names of nodes.
type names struct {
	file *treepath.Names
	// mu guards the fields below, which have the names that the file does not have.
	mu      sync.RWMutex
	numbers map[string]uint32
	added   []string
	// texts are the names of the file.
	texts []string
}

// number returns the number of a name: its index in the file, or a higher one that is valid as
// long as the tree. ok is false if there have been too many.
func (n *names) number(name string) (number uint32, ok bool) {
	if i := n.file.Index(name); i > 0 {
		return uint32(i), true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if number, ok = n.numbers[name]; ok {
		return number, true
	}
	number = math.MaxUint16 + 1 + uint32(len(n.added))
	if number > maxName {
		return 0, false
	}
	n.added = append(n.added, name)
	n.numbers[name] = number
	return number, true
}

// text is the inverse of number.
func (n *names) text(number uint32) (string, bool) {
	if i := int(number) - 1; i >= 0 && i < len(n.texts) {
		return n.texts[i], true
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if i := int64(number) - math.MaxUint16 - 1; i >= 0 && i < int64(len(n.added)) {
		return n.added[i], true
	}
	return "", false
}

// spell spells the name of a node as tree/ does.
func (n *names) spell(name string) string {
	if i := n.file.Index(name); i > 0 {
		return n.file.Escaped(i)
	}
	return treepath.Escape(name, math.MaxUint16)
}

// path spells the name and the ordinal of a node as tree/ does.
func (n *names) path(x *node) string {
	if x.ordinal == 0 {
		return n.spell(x.name)
	}
	return n.spell(x.name) + "." + strconv.FormatUint(uint64(x.ordinal), 10)
}
