// Package root has what roots of all forms say of their files: names or numbers, languages, and the
// keys of their content. The forms have packages of their own.
package root

import (
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

// Faults are the first faults of a root, and the number of all.
type Faults struct {
	List []error
	N    int
}

// maxFaults is how many faults of a root are reported.
const maxFaults = 1 << 10

// Add notes a fault.
func (f *Faults) Add(err error) {
	f.N++
	if f.N <= maxFaults {
		f.List = append(f.List, err)
	}
}

// Reported returns the faults of a root of a form. If there were too many, the last one says
// so.
func (f *Faults) Reported(form format.Name) []error {
	if more := f.N - len(f.List); more > 0 {
		return append(slices.Clip(f.List), form.Bad(0, "%d more like these", more))
	}
	return f.List
}

// Bounds of a root.
const (
	// MaxFiles is how many files a root may name, and MaxNames how many bytes their names
	// may take together.
	MaxFiles = 1 << 25
	MaxNames = 1 << 30
	// MaxName bounds a name with all its folders, in bytes.
	MaxName = 1 << 14
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

// CleanName returns a name with slashes only, and none at its beginning.
func CleanName(name string) string {
	return strings.TrimLeft(strings.ReplaceAll(name, `\`, "/"), "/")
}

// Label returns the name of a file for people.
func (f *File) Label() string {
	switch {
	case f.Name != "":
		return f.Name
	case f.HasID:
		return fmt.Sprintf("file data ID %d", f.ID)
	case f.HasHash:
		return fmt.Sprintf("name hash %016x", f.NameHash)
	}
	return "content key " + f.CKey.String()
}
