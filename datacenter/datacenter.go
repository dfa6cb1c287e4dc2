package datacenter

import (
	"context"
	"encoding/hex"
	"io"

	"lorefs/datacenter/internal/form"
)

// File is an open data center. It is safe for concurrent use. It holds only the index in
// memory and reads everything else from inflated blocks.
type File struct{ in *form.File }

// Open reads the structure of a data center of size bytes. The first time it
// inflates the whole file, which takes about 2 s a GB; the time after, with the
// same opts.Index, it inflates nothing.
//
// Errors: [ErrKey], a [FormatError], an error of ctx, or an error of r.
func Open(ctx context.Context, r io.ReaderAt, size int64, opts Options) (*File, error) {
	f, err := form.OpenSound(ctx, r, size, opts)
	if err != nil {
		return nil, err
	}
	return Of(f), nil
}

// Layout returns the file's layout.
func (f *File) Layout() Layout { return f.in.Layout }

// Header returns the file's header.
func (f *File) Header() Header { return f.in.Header }

// Key returns the key that opened the file.
func (f *File) Key() Key { return f.in.Key }

// Identity returns a name, in hex digits, for the file's content and for how it is read.
// Use it as a key for data that you keep about the file. It depends on the file's size,
// ModTime, start and end.
func (f *File) Identity() string { return hex.EncodeToString(f.in.Identity.Of[:]) }

// Size returns the size of the inflated data in bytes.
func (f *File) Size() int64 { return f.in.Stated }

// Counts returns how many nodes, attributes and other things the file holds.
func (f *File) Counts() Counts { return f.in.Counts }

// TrailingBytes returns the number of bytes behind the zlib stream in the file, and behind
// the footer in the inflated data. Both should be 0.
func (f *File) TrailingBytes() (file, inflated int64) {
	return f.in.Trailing()
}

// Footer returns the footer's marker; ok is false if the file has none.
func (f *File) Footer() (marker int32, ok bool) {
	return f.in.Regions.Marker, f.in.HasFooter()
}

// Of returns the File that reads f. It is for the packages below this one, as is [File.Form].
func Of(f *form.File) *File { return &File{f} }

// Form returns what f keeps in the form of the file.
func (f *File) Form() *form.File { return f.in }
