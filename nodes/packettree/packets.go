package packettree

import (
	"slices"

	"lorefs/nodes"
)

// quickPacket is the length of a packet up to which a listing decodes it to know the size of its
// JSON: that takes less time than the question for the size does that would follow.
const quickPacket = 4 << 10

// packetEntry describes a packet's file. A damaged packet has no .bin. With lazy set, the size
// may be left out if the packet is long.
func (t *Tree) packetEntry(s *session, k kind, i int, lazy bool) (nodes.Entry, error) {
	r := s.take()
	defer s.put(r)
	p, damage, err := r.read(i)
	if err != nil {
		return nodes.Entry{}, err
	}
	e := nodes.Entry{Name: t.packetName(s, k, i), ID: makeID(k, i), Kind: nodes.File, Size: int64(len(p.Data)), ModTime: p.Time}
	if e.ModTime.IsZero() {
		e.ModTime = t.opts.ModTime
	}
	if k == kindBin {
		if damage != nil {
			return nodes.Entry{}, nodes.NotExist(e.Name)
		}
		return e, nil
	}
	size := s.size(i)
	if size.Load() == 0 {
		if lazy && len(p.Data) > quickPacket {
			e.Size = nodes.UnknownSize
			return e, nil
		}
		r.json, _ = s.recording.AppendJSON(r.json[:0], i, &p, damage)
		size.Store(uint32(len(r.json)) + 1)
	}
	e.Size = int64(size.Load() - 1)
	return e, nil
}

// packetContent returns the content of a packet's file.
func (t *Tree) packetContent(s *session, k kind, i int) ([]byte, error) {
	if k == kindBin {
		p, err := s.log.Packet(i, nil)
		return p.Data, err
	}
	r := s.take()
	defer s.put(r)
	text, err := s.text(r, i)
	return slices.Clone(text), err
}
