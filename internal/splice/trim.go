package splice

import "fmt"

// check returns an error if edits of size bytes are not as Edit says.
func check(edits []Edit, size int64) error {
	end := int64(0)
	for _, e := range edits {
		if e.Off < end || e.Len < 0 || e.Len > size-e.Off {
			return fmt.Errorf("splice: BUG: an edit of %d bytes at %d of %d, behind one that ends at %d", e.Len, e.Off, size, end)
		}
		end = e.Off + e.Len
	}
	return nil
}

// trim returns edits of only what changes, since the tokens of all other data stay.
func (s *Stream) trim(edits []Edit) (trimmed []Edit, err error) {
	var old []byte
	for _, e := range edits {
		if int64(cap(old)) < e.Len {
			old = make([]byte, e.Len)
		}
		old = old[:e.Len]
		if err := s.Data(e.Off, old); err != nil {
			return nil, err
		}
		if len(old) == len(e.New) {
			trimmed = appendChanges(trimmed, e, old)
		} else {
			trimmed = append(trimmed, trimEnds(e, old))
		}
	}
	return trimmed, nil
}

// appendChanges splits an edit that keeps the length. It does not split it for the sake of a few
// equal bytes.
func appendChanges(list []Edit, e Edit, old []byte) []Edit {
	const least = minMatch
	for i := 0; i < len(old); i++ {
		if old[i] == e.New[i] {
			continue
		}
		end := i + 1
		for k := end; k < len(old) && k < end+least; k++ {
			if old[k] != e.New[k] {
				end = k + 1
			}
		}
		list = append(list, Edit{Off: e.Off + int64(i), Len: int64(end - i), New: e.New[i:end]})
		i = end
	}
	return list
}

// trimEnds cuts equal bytes at both ends of an edit.
func trimEnds(e Edit, old []byte) Edit {
	for len(old) > 0 && len(e.New) > 0 && old[0] == e.New[0] {
		e.Off++
		old, e.New = old[1:], e.New[1:]
	}
	for len(old) > 0 && len(e.New) > 0 && old[len(old)-1] == e.New[len(e.New)-1] {
		old, e.New = old[:len(old)-1], e.New[:len(e.New)-1]
	}
	e.Len = int64(len(old))
	return e
}
