package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/klauspost/compress/flate"

	"lorefs/internal/wtf8"
)

// Writer writes a log, for tests and samples. It is not safe for parallel use.
type Writer struct {
	out    io.Writer // what packets are written to: deflated, for some
	deep   *flate.Writer
	file   io.Writer
	info   Info
	last   int64 // Unix milliseconds of the last packet of a TeraLog, 0 for none
	err    error // sticky
	record []byte
	flat   flatBuilder
}

// maxFlat keeps offsets below 2^31.
const maxFlat = 1 << 30

// deflateLevel is Alkahest's level.
const deflateLevel = 6

// NewWriter begins a log of info.Format on w, with what the format can hold of info. level
// is the compression of an Alkahest log: 0, none, or 6.
func NewWriter(w io.Writer, info Info, level int) (*Writer, error) {
	lw := &Writer{out: w, file: w, info: info}
	switch info.Format {
	case TeraLog:
		lw.teraHead()
	case Alkahest, Alkahest0:
		if level != 0 && level != deflateLevel {
			return nil, fmt.Errorf("capture: level %d: want 0 or %d", level, deflateLevel)
		}
		lw.alkahestHead(level)
	case Flat, Hex:
	default:
		return nil, fmt.Errorf("capture: cannot write %v", info.Format)
	}
	return lw, lw.err
}

// write keeps the first error.
func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
}

func (w *Writer) block(typ byte, payload []byte) {
	b := append(w.record[:0], typ)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(payload)+2))
	w.record = append(b, payload...)
	w.write(w.record)
}

func (w *Writer) teraHead() {
	w.block(blockMagic, []byte(teraMagic))
	for _, text := range []string{w.info.Region, w.info.Revision} {
		if text != "" {
			w.block(blockRegion, []byte(text))
		}
	}
	w.block(blockStart, nil)
}

func (w *Writer) alkahestHead(level int) {
	head := binary.LittleEndian.AppendUint32(nil, 1)
	if w.info.Format == Alkahest0 {
		head = binary.LittleEndian.AppendUint32(nil, 0)
	}
	if w.info.Region != "" && !slices.Contains(regions[:], w.info.Region) {
		w.err = fmt.Errorf("capture: region %q: want one of %q", w.info.Region, regions)
	}
	revision, err := strconv.ParseUint("0"+w.info.Revision, 10, 32)
	if err != nil {
		w.err = fmt.Errorf("capture: revision %q: want a number", w.info.Revision)
	}
	head = append(head, regionIndex(w.info.Region))
	head = binary.LittleEndian.AppendUint32(head, uint32(revision))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(w.info.Servers)))
	for _, s := range w.info.Servers {
		head = s.append(head)
	}
	w.write([]byte(alkahestMagic))
	if w.info.Format == Alkahest {
		w.write(head)
	}
	w.write([]byte{byte(level)})
	if level != 0 && w.err == nil {
		w.deep, w.err = flate.NewWriter(w.file, level)
		w.out = w.deep
	}
	if w.info.Format == Alkahest0 {
		w.write(head)
	}
}

func (s *Server) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.ID))
	dst = append(wtf8.AppendUTF16(dst, s.Name), 0, 0)
	six := s.Addr.Addr().Is6() || s.Proxy.Addr().Is6()
	kind := byte(0)
	if six {
		kind = 1
	}
	return appendAddr(appendAddr(append(dst, kind), s.Addr, six), s.Proxy, six)
}

// appendAddr appends an address and its port, or zeros if it is not set.
func appendAddr(dst []byte, a netip.AddrPort, six bool) []byte {
	addr := a.Addr()
	if !addr.IsValid() {
		addr = netip.IPv4Unspecified()
	}
	b := addr.AsSlice()
	if six {
		wide := addr.As16()
		b = wide[:]
	}
	return binary.LittleEndian.AppendUint16(append(dst, b...), a.Port())
}

// Write appends a packet.
func (w *Writer) Write(p Packet) error {
	if err := w.fits(&p); err != nil {
		return err
	}
	switch w.info.Format {
	case TeraLog:
		w.tera(&p)
	case Alkahest, Alkahest0:
		w.alkahest(&p)
	case Flat:
		w.flat.add(&p)
	case Hex:
		return w.hex(&p)
	}
	return w.err
}

// fits returns an error if the format can't hold a packet.
func (w *Writer) fits(p *Packet) error {
	n := len(p.Data)
	if n < packetHeader || n > maxPacket || w.info.Old && n > maxPacket-oldTail {
		return fmt.Errorf("capture: a packet of %d bytes: want 4 to 65535, or 65533 in an old log", n)
	}
	// Only these formats keep a length in the header that differs from the real one.
	told := int(binary.LittleEndian.Uint16(p.Data))
	if told != n && w.info.Format != Flat && w.info.Format != Hex {
		return fmt.Errorf("capture: a packet of %d bytes whose header states %d: %v cannot hold it", n, told, w.info.Format)
	}
	if len(p.Name) > maxFlatName || p.Version < 0 || p.Version > math.MaxUint16 {
		return fmt.Errorf("capture: version %d of a name of %d bytes: want 0 to 65535, and at most %d", p.Version, len(p.Name), maxFlatName)
	}
	if w.info.Format == Flat && len(w.flat.body) > maxFlat {
		return errors.New("capture: more than 2^30 bytes")
	}
	return w.fitsTime(p.Time)
}

// fitsTime returns an error if the format can't hold a time.
func (w *Writer) fitsTime(t time.Time) error {
	millis, ok := toMillis(t)
	if !ok {
		return fmt.Errorf("capture: the time %v: want one from 1970-01-01T00:00:00.001Z to 9999-12-31T23:59:59.999Z", t)
	}
	if w.info.Format != TeraLog {
		return nil
	}
	if millis == 0 && w.last != 0 {
		return fmt.Errorf("capture: a packet without a time behind one with a time: %v cannot hold it", TeraLog)
	}
	if millis != 0 && millis < teraMillis {
		return fmt.Errorf("capture: the time %v: %v begins with 2015", t, TeraLog)
	}
	return nil
}

func (w *Writer) tera(p *Packet) {
	if millis, _ := toMillis(p.Time); millis != w.last {
		w.last = millis
		var ms [8]byte
		binary.LittleEndian.PutUint64(ms[:], uint64(millis-teraMillis))
		n := len(ms)
		for n > 1 && ms[n-1] == 0 {
			n--
		}
		w.block(blockTime, ms[:n])
	}
	data, typ := p.Data, byte(blockServer)
	if p.From == FromClient {
		typ = blockClient
	}
	if w.info.Old {
		data = append(append([]byte(nil), data...), 0, 0)
	}
	w.block(typ, data[2:])
}

func (w *Writer) alkahest(p *Packet) {
	millis, _ := toMillis(p.Time)
	b := binary.LittleEndian.AppendUint64(w.record[:0], uint64(millis))
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Server))
	if p.From == FromClient {
		b = append(b, 0)
	} else {
		b = append(b, 1)
	}
	b = append(b, p.Data[2:packetHeader]...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(p.Data)-packetHeader))
	w.record = append(b, p.Data[packetHeader:]...)
	w.write(w.record)
}

// hex writes a line, and reads it back: names may have characters that would make another
// line of it.
func (w *Writer) hex(p *Packet) error {
	w.record = appendHex(w.record[:0], p)
	got, _, err := parseHex(w.record, nil)
	lines := bytes.Count(w.record, []byte{'\n'})
	if err != nil || lines != 1 || !isHex(w.record) || got.Name != p.Name || !bytes.Equal(got.Data, p.Data) {
		return fmt.Errorf("capture: a packet of the name %q: %v cannot hold it", p.Name, Hex)
	}
	w.write(w.record)
	return w.err
}

// Close ends the log. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.info.Format == Flat {
		w.write(w.flat.finish())
	}
	if w.deep != nil && w.err == nil {
		w.err = w.deep.Close()
	}
	err := w.err
	if err == nil {
		w.err = errors.New("capture: the log is closed")
	}
	return err
}
