package packettree

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// session is the recording as it was when the tree last looked.
type session struct {
	recording *dissect.Recording
	log       *capture.Log // of the recording
	modTime   time.Time
	// sizes has, for each packet, the size of its JSON plus 1, or 0 if nobody has asked.
	sizes []*sizes
	// readers are for one goroutine each.
	readers sync.Pool // of *reader
}

// sizes are those of so many packets. A session that has grown shares them with the one
// before.
type sizes [4096]atomic.Uint32

// reader reads packets mostly in their order.
type reader struct {
	log          *capture.Log
	packet, json []byte
}

// newSession makes a session that has grown from another one, or from none.
func newSession(r *dissect.Recording, modTime time.Time, from *session) *session {
	s := &session{recording: r, log: r.Log(), modTime: modTime}
	if from != nil {
		s.sizes = from.sizes
	}
	for len(s.sizes)*len(sizes{}) < s.log.Len() {
		s.sizes = append(slices.Clip(s.sizes), new(sizes))
	}
	s.readers.New = func() any { return &reader{log: s.log.Sequential()} }
	return s
}

func (s *session) len() int { return s.log.Len() }

// size is where the size of the JSON of packet i is kept.
func (s *session) size(i int) *atomic.Uint32 { return &s.sizes[i/len(sizes{})][i%len(sizes{})] }

// name returns the name of packet i.
func (s *session) name(i int) string { return s.recording.Code(s.log.Code(i)).Name }

// take returns a reader, which has to be put back.
func (s *session) take() *reader { return s.readers.Get().(*reader) }

func (s *session) put(r *reader) { s.readers.Put(r) }

// read reads packet i. The error is that of damage; any other one ends it.
func (r *reader) read(i int) (p capture.Packet, damage, err error) {
	p, err = r.log.Packet(i, r.packet)
	if err != nil && !dissect.IsDamage(err) {
		return p, nil, notEnd(err)
	}
	if cap(p.Data) > cap(r.packet) {
		r.packet = p.Data
	}
	return p, err, nil
}

// text returns the JSON of packet i, which is valid until r is used again.
func (s *session) text(r *reader, i int) ([]byte, error) {
	p, damage, err := r.read(i)
	if err != nil {
		return nil, err
	}
	r.json, _ = s.recording.AppendJSON(r.json[:0], i, &p, damage)
	s.size(i).Store(uint32(len(r.json)) + 1)
	return r.json, nil
}

func (t *Tree) packetName(s *session, k kind, i int) string {
	end := ".json"
	if k == kindBin {
		end = ".bin"
	}
	return fmt.Sprintf("%0*d-%s%s", t.digits, i, s.name(i), end)
}
