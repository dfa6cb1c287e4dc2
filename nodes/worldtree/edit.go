package worldtree

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"lorefs/geometry"
)

// edit replaces the content of a source's file. It does not change.
type edit struct {
	// packed is a file with other content. If only squares were changed it is the source's
	// own file, kept because somebody may replace it.
	packed []byte
	// squares are the squares that differ from that.
	squares map[int]*cells
}

// cells are the cells of a square.
type cells = [geometry.SquareCells][]geometry.Volume

// A record of an edit begins with one of these kinds.
const (
	recordWhole  = 'W' // a file, packed
	recordSquare = 'Q' // square:2, and its JSON
)

// editQuality is Brotli's quality for what is kept until it is saved.
const editQuality = 5

// change is a new edit: what the source holds after it, where that differs from the file in the
// folder, and the record of the edit.
type change struct {
	edit   *edit
	image  []byte
	net    *net
	record []byte
}

// parse makes a change of the text of a file. It returns nil if the text equals what the
// source holds. An error in the text is a [*geometry.JSONError].
func (t *Tree) parse(ctx context.Context, n node, text []byte) (*change, error) {
	s := n.source.now()
	image, err := t.image(ctx, s)
	if err != nil && (n.square >= 0 || !isBad(err)) { // a bad file may be replaced as a whole
		return nil, err
	}
	var c *change
	switch {
	case n.square >= 0:
		c, err = t.parseSquare(ctx, s, image, n.square, text, jsonOptions(image))
	case n.view == zoneJSON:
		c, err = parseZone(ctx, image, text)
	default:
		c, err = parseArea(ctx, text)
	}
	if err != nil {
		return nil, err
	}
	if bytes.Equal(c.image, image) {
		return nil, nil //nolint:nilnil // there is none
	}
	c.net, err = t.netOf(ctx, s, c.image)
	return c, err
}

// isBad reports whether err says that a file is damaged, not just unreadable now.
func isBad(err error) bool {
	_, bad := errors.AsType[*geometry.FormatError](err)
	return bad
}

// jsonOptions allow what a zone had before.
func jsonOptions(image []byte) geometry.JSONOptions {
	if image == nil {
		return geometry.JSONOptions{}
	}
	z, err := geometry.ZoneOfImage(image)
	return geometry.JSONOptions{AnyOrder: err == nil && !z.Ascending()}
}

func parseZone(ctx context.Context, image, text []byte) (*change, error) {
	z, err := geometry.DecodeZoneJSON(text, jsonOptions(image))
	if err != nil {
		return nil, err
	}
	return wholeChange(ctx, z.Image(), z.Encode)
}

func parseArea(ctx context.Context, text []byte) (*change, error) {
	a, err := geometry.DecodeAreaJSON(text)
	if err != nil {
		return nil, err
	}
	return wholeChange(ctx, a.Image(), a.Encode)
}

// encoder writes a zone or an area as a file.
type encoder = func(ctx context.Context, w io.Writer, opts geometry.EncodeOptions) error

// wholeChange returns a change of everything that a source holds.
func wholeChange(ctx context.Context, image []byte, encode encoder) (*change, error) {
	record := bytes.NewBuffer([]byte{recordWhole})
	if err := encode(ctx, record, geometry.EncodeOptions{Quality: editQuality}); err != nil {
		return nil, err
	}
	b := slices.Clip(record.Bytes())
	return &change{edit: &edit{packed: b[1:]}, image: image, record: b}, nil
}

// maxSquares is how many squares an edit keeps separately: they take more memory than in a
// packed zone, and each further edit copies the list.
const maxSquares = 512

func (t *Tree) parseSquare(
	ctx context.Context, s *version, image []byte, square int, text []byte, opts geometry.JSONOptions,
) (*change, error) {
	z, err := geometry.ZoneOfImage(image)
	if err != nil {
		return nil, err
	}
	after, err := geometry.DecodeSquareJSON(text, opts)
	if err != nil {
		return nil, err
	}
	next, err := z.WithSquares(map[int]*cells{square: after})
	if err != nil {
		return nil, err
	}
	to, err := t.with(s, square, after)
	if err != nil {
		return nil, err
	}
	record := append(binary.LittleEndian.AppendUint16([]byte{recordSquare}, uint16(square)), text...)
	if len(to.squares) > maxSquares {
		whole, err := wholeChange(ctx, next.Image(), next.Encode)
		if err != nil {
			return nil, err
		}
		to = whole.edit
	}
	return &change{edit: to, image: next.Image(), record: record}, nil
}

// with returns the edit of a version with one more square.
func (t *Tree) with(s *version, square int, to *cells) (*edit, error) {
	if s.edit == nil {
		data, err := s.read(t.fsys)
		return &edit{packed: data, squares: map[int]*cells{square: to}}, err
	}
	next := &edit{packed: s.edit.packed, squares: maps.Clone(s.edit.squares)}
	if next.squares == nil {
		next.squares = map[int]*cells{}
	}
	next.squares[square] = to
	return next, nil
}

// replay makes a change of a record.
func (t *Tree) replay(ctx context.Context, s *version, record []byte) (*change, error) {
	c, err := t.replayed(ctx, s, record)
	if err == nil {
		c.net, err = t.netOf(ctx, s, c.image)
	}
	return c, err
}

func (t *Tree) replayed(ctx context.Context, s *version, record []byte) (*change, error) {
	switch {
	case len(record) > 1 && record[0] == recordWhole:
		next := *s
		next.edit, next.made = &edit{packed: slices.Clone(record[1:])}, &made{}
		image, err := t.tryDecode(&next)
		if isBad(err) && t.isSaved(s, record[1:]) {
			return &change{}, nil // a damaged file was reverted to
		}
		return &change{edit: next.edit, image: image}, err
	case len(record) > 3 && record[0] == recordSquare && s.kind == zone:
		square := int(binary.LittleEndian.Uint16(record[1:]))
		if square >= geometry.ZoneSquares {
			return nil, fmt.Errorf("a record of square %d: want 0 to %d", square, geometry.ZoneSquares-1)
		}
		image, err := t.image(ctx, s)
		if err != nil {
			return nil, err
		}
		return t.parseSquare(ctx, s, image, square, record[3:], asBefore)
	}
	return nil, fmt.Errorf("no record of an edit of %s", s.file)
}

// asBefore are the options for a text that was checked before, or that a file in the folder
// makes.
var asBefore = geometry.JSONOptions{AnyOrder: true}

// isSaved reports whether a file in the folder has these bytes.
func (t *Tree) isSaved(s *version, data []byte) bool {
	saved, err := s.saved().read(t.fsys)
	return err == nil && bytes.Equal(saved, data)
}

// apply copies the squares of an edit into the image of a zone.
func (e *edit) apply(image []byte) ([]byte, error) {
	if e == nil || len(e.squares) == 0 {
		return image, nil
	}
	z, err := geometry.ZoneOfImage(image)
	if err == nil {
		z, err = z.WithSquares(e.squares)
	}
	if err != nil {
		return nil, err
	}
	return z.Image(), nil
}

// differ yields the squares in which two zones differ, or all if one is nil.
func differ(before, after []byte) iter.Seq[int] {
	a, errA := geometry.ZoneOfImage(before)
	b, errB := geometry.ZoneOfImage(after)
	return func(yield func(int) bool) {
		for square := range geometry.ZoneSquares {
			if (errA != nil || errB != nil || !a.Square(square).Equal(b.Square(square))) && !yield(square) {
				return
			}
		}
	}
}
