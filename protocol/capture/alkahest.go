package capture

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"

	"lorefs/internal/wtf8"
)

// Server is a server named in an Alkahest log.
type Server struct {
	ID   int32  `json:"id"`
	Name string `json:"name"`
	// Addr is where the server was, Proxy where the client connected to.
	Addr  netip.AddrPort `json:"addr"`
	Proxy netip.AddrPort `json:"proxy"`
}

const alkahestMagic = "TPPL"

// entryHead is the size of an entry without its payload.
const entryHead = 8 + 4 + 1 + 2 + 2

// maxServers bounds the list of servers. The largest region had some dozen.
const maxServers = 10_000

// maxServerName is the longest name of a server, in bytes.
const maxServerName = 1024

var regions = [...]string{"DE", "FR", "JP", "KR", "NA", "RU", "SE", "TH", "TW", "UK"}

func isAlkahest(head []byte) bool { return len(head) >= 5 && string(head[:4]) == alkahestMagic }

func (l *Log) openAlkahest(w *window, opts Options) error {
	version, err := w.u32(4)
	if err != nil {
		return err
	}
	off := int64(len(alkahestMagic) + 4)
	if version == 1 {
		l.info.Format = Alkahest
		if off, err = l.readHead(w, off); err != nil {
			return err
		}
		level, err := w.bytes(off, 1)
		if err != nil {
			return err
		}
		if w, l.end, err = l.inflate(w, off+1, level[0], opts); err != nil {
			return err
		}
		return l.addEntries(w)
	}
	l.info.Format = Alkahest0
	level, err := w.bytes(4, 1)
	if err != nil {
		return err
	}
	if w, off, err = l.inflate(w, 5, level[0], opts); err != nil {
		return err
	}
	if version, err = w.u32(off); err != nil {
		return err
	}
	if version != 0 {
		return badf(off, "version %d: want 0 or 1", version)
	}
	if l.end, err = l.readHead(w, off+4); err != nil {
		return err
	}
	return l.addEntries(w)
}

// inflate opens the deflate stream at off, unless the level says that there is none.
func (l *Log) inflate(w *window, off int64, level byte, opts Options) (*window, int64, error) {
	switch {
	case level > 9:
		return nil, 0, badf(off-1, "compression level %d: want 0 to 9", level)
	case level == 0:
		return w, off, nil
	}
	in, err := newInflated(l.wanted, w.src, off, w.size-off, opts.MaxInflated)
	if err != nil {
		return nil, 0, err
	}
	l.info.Incomplete = in.cut
	l.src, l.size, l.deep = in, in.size, in
	return newWindow(in, in.size), 0, nil
}

// readHead reads region, revision and servers, and returns the offset behind them.
func (l *Log) readHead(w *window, off int64) (int64, error) {
	b, err := w.bytes(off, 9)
	if err != nil {
		return 0, err
	}
	if int(b[0]) >= len(regions) {
		return 0, badf(off, "region %d: want 0 to %d", b[0], len(regions)-1)
	}
	l.info.Region = regions[b[0]]
	l.info.Revision = strconv.FormatUint(uint64(binary.LittleEndian.Uint32(b[1:])), 10)
	count := binary.LittleEndian.Uint32(b[5:])
	if count > maxServers {
		return 0, badf(off+5, "%d servers: want at most %d", count, maxServers)
	}
	off += 9
	for range count {
		var s Server
		if s, off, err = readServer(w, off); err != nil {
			return 0, err
		}
		l.info.Servers = append(l.info.Servers, s)
	}
	return off, nil
}

func readServer(w *window, off int64) (s Server, end int64, err error) {
	id, err := w.u32(off)
	if err != nil {
		return s, 0, err
	}
	s.ID = int32(id)
	off += 4
	name, err := w.upTo(off, maxServerName)
	if err != nil {
		return s, 0, err
	}
	n := nul(name)
	if n < 0 {
		return s, 0, badf(off, "a server name without an end")
	}
	s.Name = string(wtf8.Append(nil, name[:n]))
	off += int64(n) + 2
	kind, err := w.bytes(off, 1)
	if err != nil {
		return s, 0, err
	}
	size := 4
	if kind[0] != 0 {
		size = 16
	}
	off++
	for _, to := range []*netip.AddrPort{&s.Addr, &s.Proxy} {
		b, err := w.bytes(off, size+2)
		if err != nil {
			return s, 0, err
		}
		addr, _ := netip.AddrFromSlice(b[:size])
		*to = netip.AddrPortFrom(addr, binary.LittleEndian.Uint16(b[size:]))
		off += int64(size) + 2
	}
	return s, off, nil
}

// nul returns the offset of the first UTF-16 NUL, -1 if there is none.
func nul(b []byte) int {
	for i := 0; i+1 < len(b); i += 2 {
		if b[i] == 0 && b[i+1] == 0 {
			return i
		}
	}
	return -1
}

// addEntries adds entry after entry.
func (l *Log) addEntries(w *window) error {
	l.read, l.more = (*Log).readAlkahest, (*Log).addEntries
	for l.end < w.size {
		off := l.end
		b, err := w.upTo(off, entryHead)
		if err != nil {
			return err
		}
		if len(b) < entryHead {
			l.cutAt(off)
			return nil
		}
		if b[12] > 1 {
			return badf(off+12, "direction %d: want 0 or 1", b[12])
		}
		size := int64(binary.LittleEndian.Uint16(b[15:]))
		if size > maxPacket-packetHeader {
			return badf(off+15, "a payload of %d bytes: want at most %d", size, maxPacket-packetHeader)
		}
		if entryHead+size > w.size-off {
			l.cutAt(off)
			return nil
		}
		if err := l.add(off, binary.LittleEndian.Uint16(b[13:])); err != nil {
			return err
		}
		l.end += entryHead + size
	}
	return nil
}

func (l *Log) cutAt(off int64) {
	if l.info.Incomplete == nil {
		l.info.Incomplete = l.located(badf(off, "the data ends within a packet"))
	}
}

func (l *Log) readAlkahest(i int, buf []byte) (Packet, error) {
	var head [entryHead]byte
	if err := l.readAt(head[:], l.at(i)); err != nil {
		return Packet{}, err
	}
	le := binary.LittleEndian
	size := min(int(le.Uint16(head[15:])), maxPacket-packetHeader)
	p := Packet{
		Time:   fromMillis(int64(le.Uint64(head[:]))),
		Server: int32(le.Uint32(head[8:])),
		From:   FromClient + Direction(head[12]&1),
		Data:   room(buf, packetHeader+size),
	}
	le.PutUint16(p.Data, uint16(len(p.Data)))
	copy(p.Data[2:], head[13:15])
	return p, l.readAt(p.Data[packetHeader:], l.at(i)+entryHead)
}

// regionIndex returns the number of a region, 0 for none.
func regionIndex(name string) byte { return byte(max(slices.Index(regions[:], name), 0)) }
