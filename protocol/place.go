package protocol

// take reserves n bytes of the fixed part, and returns their offset.
func (s *scope) take(f *flat, n int) (at int, err error) {
	at = s.size
	s.size += n
	if s.size > MaxPacket {
		return 0, fieldError(f.field, "the fields before and with %s are longer than a packet", f.path)
	}
	return at, nil
}

// takePointer reserves the pointer of a variable field: offset for a string,
// count and offset for an array, offset and count for bytes.
func (s *scope) takePointer(pointer, f *flat) error {
	n := 4
	if f.m.typ == TypeString {
		n = 2
	}
	at, err := s.take(pointer, n)
	if err != nil {
		return err
	}
	f.m.at = at
	switch f.m.typ {
	case TypeArray:
		f.m.countAt, f.m.at = at, at+2
	case TypeBytes:
		f.m.countAt = at + 2
	}
	return nil
}

// placeHoisted places all pointers first, then everything of fixed size.
func (*compiler) placeHoisted(s *scope, flats []flat) error {
	for i := range flats {
		if f := &flats[i]; f.typ.variable() {
			if err := s.takePointer(f, f); err != nil {
				return err
			}
		}
	}
	for i := range flats {
		if f := &flats[i]; !f.typ.variable() {
			if err := s.takeValue(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeInline places pointers where their fields stand.
func (*compiler) placeInline(s *scope, flats []flat) (err error) {
	for i := range flats {
		f := &flats[i]
		if f.typ.variable() {
			err = s.takePointer(f, f)
		} else {
			err = s.takeValue(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) takeValue(f *flat) (err error) {
	f.m.at, err = s.take(f, f.m.stride)
	return err
}

// placeAsListed is for definitions with lines for their pointers: everything is placed
// where its line stands.
func (*compiler) placeAsListed(s *scope, flats []flat) error {
	targets := make(map[string]*flat, len(flats))
	for i := range flats {
		// Pointers lead only to variable fields: S_LOAD_ACHIEVEMENT_LIST has an int32 with
		// its array's name.
		if f := &flats[i]; f.typ.variable() && targets[f.path] == nil {
			targets[f.path] = f
		}
	}
	for i := range flats {
		f := &flats[i]
		var err error
		switch {
		case f.typ.pointer():
			err = s.placePointer(f, targets[f.path])
		case !f.typ.variable():
			err = s.takeValue(f)
		}
		if err != nil {
			return err
		}
	}
	return complete(flats)
}

// placePointer places one line of a pointer.
func (s *scope) placePointer(line, target *flat) (err error) {
	if target == nil {
		return fieldError(line.field, "there is no string, bytes or array %s", line.path)
	}
	m := target.m
	switch line.typ {
	case TypeRef:
		if m.at >= 0 || m.countAt >= 0 {
			return fieldError(line.field, "a second pointer of %s", line.path)
		}
		return s.takePointer(line, target)
	case TypeOffset:
		if m.at >= 0 {
			return fieldError(line.field, "a second offset of %s", line.path)
		}
		m.at, err = s.take(line, 2)
	case TypeCount:
		if m.countAt >= 0 || m.typ == TypeString {
			return fieldError(line.field, "a second count of %s, or one of a string", line.path)
		}
		m.countAt, err = s.take(line, 2)
	}
	return err
}

// complete checks that every variable field has its pointer.
func complete(flats []flat) error {
	for i := range flats {
		f := &flats[i]
		if !f.typ.variable() {
			continue
		}
		if f.m.at < 0 {
			return fieldError(f.field, "the definition lists its pointers, but none for %v %s", f.typ, f.path)
		}
		if f.m.countAt < 0 && f.typ != TypeString {
			return fieldError(f.field, "%v %s has an offset but no count", f.typ, f.path)
		}
	}
	return nil
}

// group sets the order of data to the order of the lines.
func (s *scope) group(flats []flat) {
	turns := false // the group before takes another interleaved array
	for i := range flats {
		f := &flats[i]
		switch {
		case f.m == nil:
		case !f.typ.variable():
			turns = false
		case f.field.Interleaved && turns:
			last := len(s.data) - 1
			s.data[last] = append(s.data[last], f.m)
		default:
			s.data = append(s.data, []*member{f.m})
			turns = f.field.Interleaved
		}
	}
}
