package treecopy

import (
	"errors"
	"os"
	"path"
)

// bufferSize is how much is read at once.
const bufferSize = 1 << 20

// worker has what a goroutine that copies files keeps from one to the next.
type worker struct {
	buf []byte
	// folder is the folder that it last made a file in, if that is not nil, and dir its path. To make
	// files by their paths below the root, the system would have to open the folder for each.
	folder *os.Root
	dir    string
}

// buffer returns a buffer for reading a file.
func (w *worker) buffer() []byte {
	if w.buf == nil {
		w.buf = make([]byte, bufferSize)
	}
	return w.buf
}

// create makes a file below root, which is the same at each call.
func (w *worker) create(root *os.Root, name string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | unpolled
	dir, base := path.Split(name)
	if dir == "" {
		return root.OpenFile(name, flags, filePerm)
	}
	if w.folder == nil || w.dir != dir {
		w.close()
		folder, err := root.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		w.folder, w.dir = folder, dir
	}
	f, err := w.folder.OpenFile(base, flags, filePerm)
	if of, ok := errors.AsType[*os.PathError](err); ok {
		of.Path = name
	}
	return f, err
}

// close ends the use of a worker.
func (w *worker) close() {
	if w.folder != nil {
		w.folder.Close() // nothing is written by it
		w.folder = nil
	}
}
