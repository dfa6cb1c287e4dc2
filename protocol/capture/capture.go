package capture

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lorefs/internal/readat"
)

// Direction says who sent a packet.
type Direction uint8

// The directions. A log need not have them.
const (
	Unknown Direction = iota
	FromClient
	FromServer
)

func (d Direction) String() string {
	switch d {
	case FromClient:
		return "client"
	case FromServer:
		return "server"
	}
	return ""
}

// Format is the format of a log.
type Format uint8

// The formats.
const (
	TeraLog Format = iota + 1 // .TeraLog
	Hex                       // lines of hex digits
)

var formatNames = [...]string{TeraLog: "TeraConnectionLog", Hex: "hex lines"}

func (f Format) String() string {
	if f == 0 || int(f) >= len(formatNames) {
		return fmt.Sprintf("Format(%d)", uint8(f))
	}
	return formatNames[f]
}

// Packet is one packet of a log.
type Packet struct {
	// Time is when the packet was sent, in whole milliseconds after 1970-01-01 00:00 up to
	// the year 9999; zero if it is not known.
	Time time.Time
	From Direction
	// Name and Version are the definition's, as in the log; most logs have none.
	Name    string
	Version int
	// Fake says that a tool made the packet.
	Fake bool
	// Data is the packet: length, code and the rest.
	Data []byte
}

// Code returns the packet's operation code, or 0 if the packet is too short.
func (p *Packet) Code() uint16 {
	if len(p.Data) < packetHeader {
		return 0
	}
	return binary.LittleEndian.Uint16(p.Data[2:])
}

// packetHeader is the size of length and code.
const packetHeader = 4

// maxPacket is the longest packet.
const maxPacket = 65535

// Info describes a log.
type Info struct {
	Format Format
	// Revision is the client revision, in digits, or empty.
	Revision string
	// Region is the region, such as EU.
	Region string
	// Old is set for a log whose packets have two bytes too many.
	Old bool
	// Incomplete says how the log ends if it does not end with a whole packet, because the
	// recording was cut off; else nil. All packets before are good.
	Incomplete error
}

// Options are the options of Open. The zero value is right.
type Options struct {
	// MaxPackets bounds the number of packets, and so the memory for the log. Default: 10
	// million, 80 MB.
	MaxPackets int
	// Follow says that Grown will be called. All of the file is read for that, to notice later
	// whether it was only appended to.
	Follow bool
	// Seen is called by Open for the first packet of each code, with what the log has said about
	// itself before. What comes with the code can be looked up while Open reads on. It may be nil.
	Seen func(so Info, code uint16)
}

const defaultMaxPackets = 10_000_000

// Log is a recorded session, as it was when it was read. It is immutable and safe for
// parallel use, but for one of [Log.Sequential].
type Log struct {
	info Info
	opts Options
	// file is nil if the log can't grow.
	file *summed
	src  io.ReaderAt // of what index counts in
	size int64
	// end is where the first block begins that is not whole yet, and what is appended.
	end int64
	// more adds the blocks from end on.
	more func(l *Log, w *window) error
	// index has, for each packet, its offset in the upper 48 bits, and its code.
	index []uint64
	read  func(l *Log, i int, buf []byte) (Packet, error)
	// wanted returns an error when Open or Grown should stop; nil once it has returned.
	wanted func() error
	// seen has the codes that Seen was called for; nil if nobody wants to know, or once Open has
	// returned.
	seen *[1 << codeBits]bool

	// labels are the names in the log for the packets of a code.
	labels map[uint16]label

	// times are those of a TeraLog, and millis is that of its next packet, if stamped is set.
	times   []timeMark
	millis  int64
	stamped bool
	// near is how many times are before the packet that was read last; only for Sequential.
	near *int
	// lines counts the lines before end in a log of hex lines. unended is set if the last of
	// them has no end yet, though its packet is whole.
	lines   int
	unended bool
}

// label is a name and a version, as in [Packet].
type label struct {
	name    string
	version int
}

// MaxName is the longest name of a packet, so that the name of a file with it stays below
// 255 bytes.
const MaxName = 200

// isPacketName reports whether a name can be a packet's: letters, digits and _, but not
// only digits, which stand for codes.
func isPacketName(name string) bool {
	const digits = "0123456789"
	letters := strings.Trim(strings.ToUpper(name), digits+"_ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	return letters && strings.Trim(name, digits) != "" && len(name) <= MaxName
}

// rememberName keeps the first name of a code's packets.
func (l *Log) rememberName(code uint16, p *Packet) {
	if _, known := l.labels[code]; known || !isPacketName(p.Name) {
		return
	}
	if l.labels == nil {
		l.labels = make(map[uint16]label)
	}
	l.labels[code] = label{p.Name, p.Version}
}

// Label returns the name and the version that the log has for the packets of a code, from
// the first one with a name of letters, digits and _; empty if none has.
func (l *Log) Label(code uint16) (name string, version int) {
	one := l.labels[code]
	return one.name, one.version
}

// timeMark is the time of a packet and those behind it.
type timeMark struct {
	packet int
	millis int64
}

// headSize is how much of a file is read first.
const headSize = 64

// askEvery is after how many packets Open checks its context.
const askEvery = 4096

// codeBits is how many bits of an index entry the code takes.
const codeBits = 16

// Open recognizes the format of a file and makes the index, for which it reads the file
// once. While the log is used, src must not change but by what is appended to it; see
// [Log.Grown].
//
// An error matches [ErrUnknown], or is a [*FormatError], or comes from reading.
func Open(ctx context.Context, src io.ReaderAt, size int64, opts Options) (*Log, error) {
	if opts.MaxPackets <= 0 {
		opts.MaxPackets = defaultMaxPackets
	}
	l := &Log{src: src, size: size, opts: opts, wanted: ctx.Err}
	if opts.Seen != nil {
		l.seen = new([1 << codeBits]bool)
	}
	defer func() { l.wanted, l.seen = nil, nil }()
	if size == 0 {
		return nil, badf(0, "the file is empty")
	}
	if size > 1<<(64-codeBits)-1 {
		return nil, badf(0, "a file of %d bytes: want at most 2^48", size)
	}
	w := newWindow(src, size)
	head, err := w.upTo(0, headSize)
	if err != nil {
		return nil, err
	}
	switch {
	case isTeraLog(head):
		err = l.openTeraLog(w)
	case isHex(head):
		err = l.openHex(w)
	default:
		return nil, ErrUnknown
	}
	if err == nil && opts.Follow {
		l.file, err = sumUp(l.wanted, src, size)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Detect returns the format of a recorded session, from its beginning alone, or 0. Text counts
// only if its first line that is no comment holds a packet. Open asks for less: it assumes that
// the file is a recording, so it says what is wrong with such a line.
//
// An error comes from reading.
func Detect(src io.ReaderAt, size int64) (Format, error) {
	w := newWindow(src, size)
	head, err := w.upTo(0, headSize)
	switch {
	case err != nil:
		return 0, err
	case isTeraLog(head):
		return TeraLog, nil
	case !isHex(head):
		return 0, nil
	}
	is, err := beginsWithPacket(w)
	if !is || err != nil {
		return 0, err
	}
	return Hex, nil
}

// Info returns what the log says about itself.
func (l *Log) Info() Info { return l.info }

// Len returns the number of packets.
func (l *Log) Len() int { return len(l.index) }

// Code returns the code of packet i, from the index.
func (l *Log) Code(i int) uint16 { return uint16(l.index[i]) }

// Offset returns where packet i begins in the file, with what precedes it in the log.
func (l *Log) Offset(i int) int64 { return int64(l.index[i] >> codeBits) }

// Packet reads packet i. Its data is put into buf if it fits.
func (l *Log) Packet(i int, buf []byte) (Packet, error) {
	if i < 0 || i >= len(l.index) {
		return Packet{}, fmt.Errorf("capture: there is no packet %d of %d", i, len(l.index))
	}
	return l.read(l, i, buf)
}

// add notes a packet.
func (l *Log) add(off int64, code uint16) error {
	if len(l.index) >= l.opts.MaxPackets {
		return badf(off, "more than %d packets", l.opts.MaxPackets)
	}
	if len(l.index)%askEvery == 0 {
		if err := l.wanted(); err != nil {
			return err
		}
	}
	l.index = append(roomToGo(l.index, off, l.size), uint64(off)<<codeBits|uint64(code))
	if l.seen != nil && !l.seen[code] {
		l.seen[code] = true
		l.opts.Seen(l.info, code)
	}
	return nil
}

// roomToGo makes room in a list that is full, for the entries up to the end of the data if they
// come as they came up to off, but for at most three times as many as there are. So a list of
// millions is copied a few times, and a file that goes on otherwise costs no more than it has.
// There is room for a few more: without it, half of all lists would be copied again just before
// their end.
func roomToGo[T any](list []T, off, size int64) []T {
	n := len(list)
	if n < cap(list) || off <= 0 || off >= size {
		return list
	}
	expected := float64(size-off)/float64(off)*float64(n) + float64(n)/16
	return slices.Grow(list, int(min(expected, 3*float64(n)))+1)
}

// readAt fills p from off.
func (l *Log) readAt(p []byte, off int64) error {
	if off < 0 || off > l.size || int64(len(p)) > l.size-off {
		return badf(off, "%d bytes: the data ends at %d", len(p), l.size)
	}
	if err := readat.Full(l.src, p, off); err != nil {
		return fmt.Errorf("capture: %d bytes at %d: %w", len(p), off, err)
	}
	return nil
}

// room returns a buffer of n bytes, buf if it is large enough.
func room(buf []byte, n int) []byte {
	if cap(buf) >= n {
		return buf[:n]
	}
	return make([]byte, n)
}
