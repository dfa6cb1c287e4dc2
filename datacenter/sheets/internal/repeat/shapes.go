package repeat

import "lorefs/datacenter/sheets/internal/xmltext"

// Shapes are shapes of start tags, of the children of one parent, say, and what is known of each.
type Shapes[K any] struct {
	list []shaped[K] // those that are met often come first
}

type shaped[K any] struct {
	shape xmltext.Shape
	what  K
}

// mostShapes is how many shapes are kept. Few elements have more, and to try them all takes time.
const mostShapes = 16

// Add adds a shape.
func (s *Shapes[K]) Add(shape xmltext.Shape, what K) {
	for i := range s.list {
		if s.list[i].shape.Equal(&shape) {
			return // it is that of a tag with a value that is too long to be found
		}
	}
	if len(s.list) == mostShapes {
		s.list = s.list[:mostShapes-1]
	}
	s.list = append(s.list, shaped[K]{shape, what})
}

// Match finds a shape of the start tag at the start of data. It sets the values, and returns the length of
// the tag, or 0.
func (s *Shapes[K]) Match(data []byte, values *xmltext.Values) (what *K, length int) {
	for i := range s.list {
		length := s.list[i].shape.Match(data, values)
		if length == 0 {
			continue
		}
		if i > 0 {
			s.list[i-1], s.list[i] = s.list[i], s.list[i-1]
			i--
		}
		return &s.list[i].what, length
	}
	return nil, 0
}
