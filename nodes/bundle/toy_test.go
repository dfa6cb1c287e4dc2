package bundle_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"lorefs/nodes/bundle"
)

// toy is a format of files one after another: the lengths of name and content, 4 bytes each, and
// the two.
var toy = &bundle.Format{
	Name: "toy", Noun: "toys",
	Open: func(r io.ReaderAt, size int64) (bundle.Files, error) { return openToy(r, size) },
	CheckName: func(name string) error {
		if name == "" || strings.Contains(name, "!") {
			return errors.New("no name, or one with an exclamation mark")
		}
		return nil
	},
	Write: func(w io.Writer, files iter.Seq[bundle.Input]) error {
		for in := range files {
			b := binary.LittleEndian.AppendUint32(nil, uint32(len(in.Name)))
			b = append(binary.LittleEndian.AppendUint32(b, uint32(in.Size)), in.Name...)
			if _, err := w.Write(b); err != nil {
				return err
			}
			if _, err := io.Copy(w, in.Content); err != nil {
				return err
			}
		}
		return nil
	},
}

type toyFiles struct {
	r     io.ReaderAt
	names []string
	// at has the place of each content, and the end of the last.
	at, sizes []int64
}

func openToy(r io.ReaderAt, size int64) (*toyFiles, error) {
	f := &toyFiles{r: r}
	for off := int64(0); off < size; {
		var head [8]byte
		if _, err := r.ReadAt(head[:], off); err != nil {
			return nil, fmt.Errorf("offset %d: %w", off, err)
		}
		name := make([]byte, binary.LittleEndian.Uint32(head[:]))
		if _, err := r.ReadAt(name, off+8); err != nil {
			return nil, fmt.Errorf("offset %d: %w", off, err)
		}
		n := int64(binary.LittleEndian.Uint32(head[4:]))
		f.names, f.sizes, f.at = append(f.names, string(name)), append(f.sizes, n), append(f.at, off+8+int64(len(name)))
		off += 8 + int64(len(name)) + n
	}
	return f, nil
}

func (f *toyFiles) Len() int          { return len(f.names) }
func (f *toyFiles) Name(i int) string { return f.names[i] }
func (f *toyFiles) Size(i int) int64  { return f.sizes[i] }

func (f *toyFiles) ReadAt(i int, p []byte, off int64) (int, error) {
	return io.NewSectionReader(f.r, f.at[i], f.sizes[i]).ReadAt(p, off)
}

// toyOf returns a toy with files, given as name and content in turn.
func toyOf(files ...string) []byte {
	var b bytes.Buffer
	err := toy.Write(&b, func(yield func(bundle.Input) bool) {
		for i := 0; i < len(files); i += 2 {
			if !yield(bundle.Input{Name: files[i], Size: int64(len(files[i+1])), Content: strings.NewReader(files[i+1])}) {
				return
			}
		}
	})
	if err != nil {
		panic(err)
	}
	return b.Bytes()
}
