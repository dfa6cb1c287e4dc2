package casc

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"

	"lorefs/casc/internal/format"
	"lorefs/casc/internal/lookup3"
	"lorefs/casc/keys"
)

// File is a file that a root names.
type File struct {
	// Name has slashes between its parts. It is empty if only an ID or a hash is known. A
	// file in a nested manifest is OUTER:INNER.
	Name string
	// ID is the file data ID, if HasID.
	ID uint32
	// NameHash is NameHash(Name), if HasHash.
	NameHash uint64
	HasID    bool
	HasHash  bool
	// Locale and Flags say what the file is for; zero if the root does not say.
	Locale Locale
	Flags  ContentFlags
	// CKey is the content key. It is zero if only Spans are known.
	CKey keys.Key
	// Size is the decoded size that the root states, or -1.
	Size int64
	// Spans are the encoded files that the file is made of, if the root has them. They must
	// not be changed, because files may share them.
	Spans []Span
	// Err says why the file can't be read. If it is set, only Name is reliable.
	Err error
}

// Span is a part of a file: a range of an encoded file.
type Span struct {
	// EKey is the encoding key. If only its first KeySize bytes are known, the rest is
	// zero.
	EKey    keys.Key
	KeySize int
	// CKey is the content key, zero if the root does not say.
	CKey keys.Key
	// Off and Size are the range of the decoded content.
	Off, Size int64
	// ContentSize is the decoded size of the whole encoded file, or 0 if it is not known.
	ContentSize int64
}

// Root names the files of a build. Only one caller at a time may use Files.
type Root interface {
	// Kind returns the name of its form, such as "wow" or "tvfs".
	Kind() string
	// Files yields all files in the root's order. An error comes last.
	Files() iter.Seq2[File, error]
}

// Loader reads other files of the storage, decoded, for roots that consist of several.
type Loader interface {
	// Content reads the file with a content key.
	Content(ckey keys.Key) ([]byte, error)
	// Encoded reads the file of which the encoding key begins with prefix.
	Encoded(prefix []byte) ([]byte, error)
}

// Problems returns the faults that a root has in spite of which it can be used, such as a
// part that is not local. They are complete after a run of Files.
type Problems interface {
	Problems() []error
}

// faults are the first faults of a root, and the number of all.
type faults struct {
	list []error
	n    int
}

// maxFaults is how many faults of a root are reported.
const maxFaults = 1 << 10

func (f *faults) add(err error) {
	f.n++
	if f.n <= maxFaults {
		f.list = append(f.list, err)
	}
}

// reported returns the faults of a root of a form. If there were too many, the last one says
// so.
func (f *faults) reported(form format.Name) []error {
	if more := f.n - len(f.list); more > 0 {
		return append(slices.Clip(f.list), form.Bad(0, "%d more like these", more))
	}
	return f.list
}

const (
	// maxFiles is how many files a root may name, and maxNames how many bytes their names
	// may take together.
	maxFiles = 1 << 25
	maxNames = 1 << 30
	// maxName bounds a name with all its folders, in bytes.
	maxName = 1 << 14
)

// NameHash returns the hash of a name in roots of World of Warcraft: in upper case with
// backslashes.
func NameHash(name string) uint64 {
	b := []byte(strings.ToUpper(name))
	for i, c := range b {
		if c == '/' {
			b[i] = '\\'
		}
	}
	pc, pb := lookup3.Hash2(b, 0, 0)
	return uint64(pc)<<32 | uint64(pb)
}

// cleanName returns a name with slashes only, and none at its beginning.
func cleanName(name string) string {
	return strings.TrimLeft(strings.ReplaceAll(name, `\`, "/"), "/")
}

// ParseRoot reads a root file and recognizes its form by its first bytes. load reads the
// other files of a root that has several. Roots keep data, which must not be changed.
func ParseRoot(data []byte, load Loader) (Root, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("casc: root: %d bytes", len(data))
	}
	switch binary.LittleEndian.Uint32(data) {
	case wowMagic:
		return rootOf(ParseWoWRoot(data))
	case tvfsMagic:
		return rootOf(ParseTVFS(data, load))
	case mndxMagic:
		return rootOf(ParseMNDX(data))
	case diabloMagic:
		return rootOf(ParseDiablo3(data, load))
	}
	switch {
	case data[0] == '#':
		return rootOf(ParseOverwatch(data, load))
	case isTextRoot(data):
		return rootOf(ParseTextRoot(data))
	case string(data[:2]) == "IN":
		m, err := ParseInstall(data)
		if err != nil {
			return nil, err
		}
		return m.Root(), nil
	}
	return rootOf(ParseWoWRoot(data))
}

// rootOf returns the root, or nil with an error: a parser's nil pointer would be a Root
// that is not nil.
func rootOf[R Root](r R, err error) (Root, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}
