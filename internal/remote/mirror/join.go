package mirror

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"lorefs/internal/disk"
)

// errPiece means that a piece is damaged, or that another process has joined or trimmed it just
// now. It says nothing about whether files can be written.
var errPiece = errors.New("a piece can't be read")

// join makes an object whole from its pieces, if they are all there.
func (c *Cache) join(o Object, size int64) {
	cover := covering(c.spans(o), size)
	if cover == nil {
		return
	}
	lost := false
	written := c.try(size, func() error {
		err := c.write(c.whole(o), func(f disk.File) error { return c.copyAll(f, o, cover) })
		if lost = errors.Is(err, errPiece); lost {
			return nil
		}
		return err
	})
	if !written || lost {
		return
	}
	for _, s := range c.spans(o) {
		_ = c.disk.Remove(filepath.Join(c.pieces(o), s.String())) // what stays is trimmed some day
	}
	_ = os.Remove(c.pieces(o)) // another process may have put a piece there just now
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kept, o)
}

// covering chooses spans that have all bytes up to size, in their order. It returns nil if
// there is a gap.
func covering(all []span, size int64) (cover []span) {
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(b.size, a.size)) })
	end := int64(0)
	for len(all) > 0 && end < size {
		var best span
		for len(all) > 0 && all[0].off <= end {
			if all[0].end() > best.end() {
				best = all[0]
			}
			all = all[1:]
		}
		if best.end() <= end {
			return nil
		}
		cover, end = append(cover, best), best.end()
	}
	if end != size {
		return nil
	}
	return cover
}

// copyAll writes pieces into a file. A piece whose content has changed since it was proven
// makes a wrong file, which whoever reads it finds out.
func (c *Cache) copyAll(to disk.File, o Object, cover []span) error {
	for _, s := range cover {
		if err := c.copyPiece(to, filepath.Join(c.pieces(o), s.String()), s); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cache) copyPiece(to disk.File, name string, s span) error {
	f, err := c.disk.Open(name, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("%w: %w", errPiece, err)
	}
	defer f.Close()
	data, err := readPart(f, span{0, s.size})
	if err != nil {
		_ = c.disk.Remove(name) // so that it is fetched again
		return fmt.Errorf("%w: %s: %w", errPiece, name, err)
	}
	return disk.WriteFull(to, data, s.off)
}
