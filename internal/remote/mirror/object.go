package mirror

import (
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Kind is the folder of an object.
type Kind string

// The kinds of objects.
const (
	Config Kind = "config"
	Data   Kind = "data"
)

// indexSuffix ends the name of an index, behind the key of its archive.
const indexSuffix = ".index"

// Object names what a storage has under a key.
type Object struct {
	// Path is where the storage lies on its hosts, such as "tpr/wow".
	Path string
	Kind Kind
	Key  [16]byte
	// Index means the index of the archive Key.
	Index bool
}

// String returns the path of the object on a host.
func (o Object) String() string {
	key := hex.EncodeToString(o.Key[:])
	name := key
	if o.Index {
		name += indexSuffix
	}
	return path.Join(o.Path, string(o.Kind), key[:2], key[2:4], name)
}

// isSmall says that an object is needed for reading any other.
func (o Object) isSmall() bool { return o.Kind == Config || o.Index }

// span is a range of an object.
type span struct{ off, size int64 }

func (s span) end() int64 { return s.off + s.size }

func (s span) contains(other span) bool { return s.off <= other.off && other.end() <= s.end() }

func (s span) String() string { return fmt.Sprintf("%x-%x", s.off, s.size) }

func parseSpan(name string) (span, bool) {
	off, size, ok := strings.Cut(name, "-")
	if !ok {
		return span{}, false
	}
	s := span{}
	var offErr, sizeErr error
	s.off, offErr = strconv.ParseInt(off, 16, 64)
	s.size, sizeErr = strconv.ParseInt(size, 16, 64)
	return s, offErr == nil && sizeErr == nil && s.off >= 0 && s.size > 0 && s.end() > s.off
}
