package replace

import (
	"bufio"
	"errors"
	"io"
	"os"

	"lorefs/internal/disk"
)

// writeSize is the size of a write to the system. After each, cancellation is checked.
const writeSize = 1 << 20

// writeAll calls write with a buffered writer to a new file. It returns errors of writing
// even if write ignores them.
func (f *File) writeAll(to disk.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(&writer{f: f, to: to}, writeSize)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// writer writes to a new file, unless the work was cancelled.
type writer struct {
	f   *File
	to  disk.File
	off int64
}

func (w *writer) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if err := w.f.begin(); err != nil {
			return done, err
		}
		n, err := w.to.WriteAt(p[done:min(len(p), done+writeSize)], w.off)
		done, w.off = done+n, w.off+int64(n)
		if of, ok := errors.AsType[*os.PathError](err); ok {
			err = of.Err // the temporary file is no file that users know
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}
