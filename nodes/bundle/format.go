package bundle

import (
	"fmt"
	"io"
	"iter"
)

// Format is a kind of file that holds other files.
type Format struct {
	// Name is the name of the kind, as users write it, and Noun names such sources in messages.
	Name, Noun string
	// Detect reports whether a file is of the kind. It reads little.
	Detect func(r io.ReaderAt, size int64) (bool, error)
	// Open reads which files a file holds.
	Open func(r io.ReaderAt, size int64) (Files, error)
	// CheckName returns why a file can't have a name, or nil. No file has an empty one.
	CheckName func(name string) error
	// Write writes a file that holds others, in their order. It reads each of them to its end,
	// once, and returns an error if one has another size than it says.
	Write func(w io.Writer, files iter.Seq[Input]) error
	// Verify yields what breaks a rule of the format and, if strict is set, what the format
	// allows but a careful writer avoids. An error comes last, and means that the file could not
	// be read.
	Verify func(r io.ReaderAt, size int64, strict bool) iter.Seq2[Finding, error]
}

// Files are the files that a file holds, by their places from 0 on. They never change, their names
// differ, and all methods are safe for parallel use.
type Files interface {
	Len() int
	Name(i int) string
	Size(i int) int64
	// ReadAt is [io.ReaderAt] on the content of a file, from 0 to Size.
	ReadAt(i int, p []byte, off int64) (int, error)
}

// Input is a file to write.
type Input struct {
	Name    string
	Size    int64
	Content io.Reader
}

// Finding is something that breaks a rule of a format.
type Finding struct {
	// Off is an offset in the file, Where says what is there.
	Off   int64
	Where string
	// What was found, and what was expected.
	What string
}

func (f Finding) String() string { return fmt.Sprintf("offset %d: %s: %s", f.Off, f.Where, f.What) }
