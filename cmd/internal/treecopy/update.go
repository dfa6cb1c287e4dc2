package treecopy

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"hash"
	"io"
	iofs "io/fs"
	"os"

	"lorefs/nodes"
)

// Sum is the MD5 of the content of a file, or of the target of a link. It is also the key that a CASC
// storage has for a content.
type Sum [md5.Size]byte

func newSum() hash.Hash { return md5.New() }

// sumOf returns what a hash has, which may be nil.
func sumOf(h hash.Hash) (s Sum) {
	if h != nil {
		h.Sum(s[:0])
	}
	return s
}

func linkSum(target string) Sum { return md5.Sum([]byte(target)) }

// SumAt returns the sum of a file or a link in a folder. ok is false for anything else.
func SumAt(root *os.Root, name string) (sum Sum, ok bool, err error) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return sum, false, err
	case info.Mode()&iofs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		return linkSum(target), err == nil, err
	case !info.Mode().IsRegular():
		return sum, false, nil
	}
	s, err := openStanding(root, name)
	if err != nil {
		return sum, false, err
	}
	defer s.close()
	sum, err = s.Sum(0, s.Size)
	return sum, err == nil, err
}

// errSame means that a link need not be made.
var errSame = errors.New("it is the same")

// Standing is a file that stands in a folder.
type Standing struct {
	Size int64
	f    *os.File
	all  *Sum // of all of it, once that is known
}

// openStanding opens a regular file of a folder. A link is none: what it leads to is not the folder's.
func openStanding(root *os.Root, name string) (*Standing, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() { // to open it may block forever
		err = iofs.ErrInvalid
	}
	if err != nil {
		return nil, err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	return &Standing{Size: info.Size(), f: f}, nil
}

func (s *Standing) close() { s.f.Close() } // nothing is written by it

// Sum returns the MD5 of size bytes from an offset on.
func (s *Standing) Sum(off, size int64) (Sum, error) {
	whole := off == 0 && size == s.Size
	if whole && s.all != nil {
		return *s.all, nil
	}
	h := newSum()
	n, err := io.CopyBuffer(h, io.NewSectionReader(s.f, off, size), make([]byte, min(max(size, 1), bufferSize)))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	sum := sumOf(h)
	if whole && err == nil {
		s.all = &sum
	}
	return sum, err
}

// sameByKey reports whether a file need not be read in the tree, since Options.Same says that it stands in
// the folder. If that can't be told, reading both tells.
func (o *Options) sameByKey(ctx context.Context, in *os.Root, j *job) (sum Sum, same bool) {
	if o.Same == nil || in == nil || j.entry.Kind != nodes.File {
		return sum, false
	}
	s, err := openStanding(in, j.path)
	if err != nil {
		return sum, false
	}
	defer s.close()
	if j.entry.Size != nodes.UnknownSize && j.entry.Size != s.Size {
		return sum, false
	}
	if same, err = o.Same(ctx, j.entry.ID, s); same && err == nil && o.Stands != nil {
		sum, err = s.Sum(0, s.Size)
	}
	return sum, same && err == nil
}

// errDiffers ends reading a file that is not what stands in a folder.
var errDiffers = errors.New("it differs")

// unchanged reports whether what would be copied stands in a folder.
func (o *Options) unchanged(ctx context.Context, in *os.Root, p *Planned) bool {
	if _, same := o.sameByKey(ctx, in, &job{p.Entry, p.Path}); same {
		return true
	}
	if p.Entry.Kind == nodes.Link {
		var target bytes.Buffer
		there, err := in.Readlink(p.Path)
		return err == nil && p.Content(&target) == nil && target.String() == there
	}
	c := &comparing{make: func() (*guarded, error) { return nil, errDiffers }}
	defer c.close()
	if c.begin(in, p.Path) != nil || p.Content(c) != nil {
		return false
	}
	same, err := c.end()
	return same && err == nil
}

// comparing takes the content of a file. As long as that is what stands in a folder, it writes nothing.
type comparing struct {
	old *Standing // nil if nothing stands there
	// make makes the new file, which is nil as long as there is no need for it.
	make func() (*guarded, error)
	new  *guarded
	n    int64     // how much is the same
	sum  hash.Hash // of the content, or nil
	buf  []byte
	// err is an error of anything but the content.
	err error
}

// begin opens what stands in a folder, if that is not nil. Without it, it makes the new file at once.
func (c *comparing) begin(in *os.Root, name string) error {
	if in != nil {
		if c.old, c.err = openStanding(in, name); c.err == nil {
			return nil
		}
	}
	return c.other()
}

// other begins to write, with what was the same until now.
func (c *comparing) other() error {
	if c.new, c.err = c.make(); c.err == nil && c.n > 0 {
		_, c.err = io.Copy(c.new, io.NewSectionReader(c.old.f, 0, c.n))
	}
	return c.err
}

func (c *comparing) Write(p []byte) (n int, err error) {
	if c.sum != nil {
		c.sum.Write(p)
	}
	if c.new == nil && c.stands(p) {
		c.n += int64(len(p))
		return len(p), nil
	}
	if c.new == nil {
		if err := c.other(); err != nil {
			return 0, err
		}
	}
	n, c.err = c.new.Write(p)
	return n, c.err
}

// stands reports whether the next bytes are those that stand there.
func (c *comparing) stands(p []byte) bool {
	if cap(c.buf) == 0 {
		c.buf = make([]byte, min(max(c.old.Size, 1), bufferSize))
	}
	for off := c.n; len(p) > 0; {
		part := p[:min(len(p), len(c.buf))]
		if n, _ := c.old.f.ReadAt(c.buf[:len(part)], off); !bytes.Equal(c.buf[:n], part) {
			return false
		}
		off, p = off+int64(len(part)), p[len(part):]
	}
	return true
}

// end is called when all was written, and reports whether that is all that stands there.
func (c *comparing) end() (same bool, err error) {
	switch {
	case c.new != nil:
		return false, nil
	case c.n == c.old.Size:
		return true, nil
	}
	return false, c.other()
}

// Restart implements what guarded.Restart is for.
func (c *comparing) Restart() error {
	if c.n = 0; c.sum != nil {
		c.sum.Reset()
	}
	if c.new != nil {
		c.err = c.new.Restart()
	}
	return c.err
}

func (c *comparing) close() {
	if c.old != nil {
		c.old.close()
	}
}
