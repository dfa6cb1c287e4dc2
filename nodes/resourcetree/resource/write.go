package resource

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf16"
)

// File is a file to write. Content has Size bytes.
type File struct {
	Name    string
	Size    int64
	Content io.Reader
}

// Write writes a container that holds files, in their order.
func Write(w io.Writer, files iter.Seq[File]) error {
	out := &writer{to: bufio.NewWriterSize(w, copySize), names: map[string]bool{}}
	for f := range files {
		if err := out.file(f); err != nil {
			return fmt.Errorf("resource: %s: %w", f.Name, err)
		}
	}
	if len(out.directory) > maxDirectory {
		return fmt.Errorf("resource: a directory of %d bytes: want up to %d", len(out.directory), maxDirectory)
	}
	size := uint32(len(out.directory))
	crypt(out.directory, 0)
	_, err := out.to.Write(trailer{size, magic}.append(out.directory))
	return errors.Join(err, out.to.Flush())
}

// copySize is how much of a content is encrypted at once.
const copySize = 64 << 10

type writer struct {
	to        *bufio.Writer
	off       int64
	directory []byte
	names     map[string]bool
	buffer    [copySize]byte
}

func (w *writer) file(f File) error {
	switch err := CheckName(f.Name); {
	case err != nil:
		return err
	case w.names[f.Name]:
		return errors.New("two files have the name")
	case len(w.names) == maxFiles:
		return fmt.Errorf("more than %d files", maxFiles)
	case f.Size < 0 || f.Size > maxOffset-w.off:
		return fmt.Errorf("%d bytes, where %d others precede it: want up to %d together", f.Size, w.off, maxOffset)
	}
	w.names[f.Name] = true
	w.directory = binary.LittleEndian.AppendUint32(w.directory, uint32(f.Size))
	w.directory = binary.LittleEndian.AppendUint32(w.directory, uint32(w.off))
	for _, unit := range utf16.Encode([]rune(f.Name)) {
		w.directory = binary.LittleEndian.AppendUint16(w.directory, unit)
	}
	w.directory = append(w.directory, 0, 0)
	w.off += f.Size
	return w.content(f)
}

// content encrypts and writes what a file holds.
func (w *writer) content(f File) error {
	for done := int64(0); done < f.Size; {
		part := w.buffer[:min(f.Size-done, copySize)]
		n, err := io.ReadFull(f.Content, part)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: it ends after %d bytes: want %d", io.ErrUnexpectedEOF, done+int64(n), f.Size)
		}
		if err != nil {
			return err
		}
		crypt(part, done)
		if _, err := w.to.Write(part); err != nil {
			return err
		}
		done += int64(n)
	}
	switch n, err := io.ReadFull(f.Content, w.buffer[:1]); {
	case n > 0:
		return fmt.Errorf("it has more bytes than the %d that it should", f.Size)
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}
