package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Writer writes a log, for tests and samples. It is not safe for parallel use.
type Writer struct {
	out    io.Writer
	info   Info
	last   int64 // Unix milliseconds of the last packet of a TeraLog, 0 for none
	err    error // sticky
	record []byte
}

// NewWriter begins a log of info.Format on w, with what the format can hold of info.
func NewWriter(w io.Writer, info Info) (*Writer, error) {
	lw := &Writer{out: w, info: info}
	switch info.Format {
	case TeraLog:
		lw.teraHead()
	case Hex:
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

// Write appends a packet.
func (w *Writer) Write(p Packet) error {
	if err := w.fits(&p); err != nil {
		return err
	}
	switch w.info.Format {
	case TeraLog:
		w.tera(&p)
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
	// A TeraLog has no place for a length in the header that differs from the real one.
	told := int(binary.LittleEndian.Uint16(p.Data))
	if told != n && w.info.Format == TeraLog {
		return fmt.Errorf("capture: a packet of %d bytes whose header states %d: %v cannot hold it", n, told, w.info.Format)
	}
	if len(p.Name) > maxLabel || p.Version < 0 || p.Version > math.MaxUint16 {
		return fmt.Errorf("capture: version %d of a name of %d bytes: want 0 to 65535, and at most %d", p.Version, len(p.Name), maxLabel)
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
	err := w.err
	if err == nil {
		w.err = errors.New("capture: the log is closed")
	}
	return err
}
