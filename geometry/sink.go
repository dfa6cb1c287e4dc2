package geometry

// sink takes a text, and appends it to dst or only counts its bytes. One walk over a zone or
// an area does both, so that sizes are those of what is written. Only what most bytes are of is
// counted by other code than writes it, which stands beside it.
type sink struct {
	// counts is set for a sink that counts.
	counts bool
	dst    []byte
	count  int
}

func (s *sink) str(text string) {
	if s.counts {
		s.count += len(text)
		return
	}
	s.dst = append(s.dst, text...)
}

func (s *sink) bytes(text []byte) {
	if s.counts {
		s.count += len(text)
		return
	}
	s.dst = append(s.dst, text...)
}

func (s *sink) int(v int) {
	if s.counts {
		s.count += digits(v)
		return
	}
	s.dst = appendInt(s.dst, v)
}

// pair takes [a,b].
func (s *sink) pair(a, b int) {
	if s.counts {
		s.count += len("[,]") + digits(a) + digits(b)
		return
	}
	s.dst = append(s.dst, '[')
	s.dst = appendInt(s.dst, a)
	s.dst = append(s.dst, ',')
	s.dst = appendInt(s.dst, b)
	s.dst = append(s.dst, ']')
}

// float32 takes the shortest JSON number that reads back as the same bits. v is finite.
func (s *sink) float32(v float32) { s.float(float64(v), 32) }

// float64 is float32 for differences of positions.
func (s *sink) float64(v float64) { s.float(v, 64) }

func (s *sink) float(v float64, bits int) {
	if i, ok := whole(v); ok {
		s.int(i)
		return
	}
	if s.counts {
		var text [maxFloat]byte
		s.count += len(appendFraction(text[:0], v, bits))
		return
	}
	s.dst = appendFraction(s.dst, v, bits)
}

// position takes [x,y,z].
func (s *sink) position(at [3]float32) {
	s.str("[")
	s.float32(at[0])
	s.str(",")
	s.float32(at[1])
	s.str(",")
	s.float32(at[2])
	s.str("]")
}

// lineEnd ends the line of an element of a list.
func (s *sink) lineEnd(last bool) {
	if last {
		s.str("\n")
		return
	}
	s.str(",\n")
}
