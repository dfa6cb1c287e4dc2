package capture

import (
	"encoding/binary"
	"fmt"
	"sort"
	"strings"
	"time"
)

// Block types.
const (
	blockMagic  = 1
	blockStart  = 2
	blockTime   = 3
	blockClient = 4
	blockServer = 5
	blockRegion = 6
)

// blockHead is the size of type and size. maxTime is that of the longest time behind them.
const (
	blockHead = 3
	maxTime   = 8
)

const teraMagic = "TeraConnectionLog"

// Old logs are recognized by their first packet.
const (
	checkVersion    = 19900
	oldCheckVersion = packetHeader + 30
	oldTail         = 2
)

func isTeraLog(head []byte) bool {
	want := append([]byte{blockMagic, byte(len(teraMagic) + 2), 0}, teraMagic...)
	return strings.HasPrefix(string(head), string(want))
}

func (l *Log) openTeraLog(w *window) error {
	l.info.Format = TeraLog
	l.read, l.more = (*Log).readTeraLog, (*Log).addBlocks
	return l.addBlocks(w)
}

// addBlocks adds block after block.
func (l *Log) addBlocks(w *window) error {
	for l.end < w.size {
		part, err := w.from(l.end, blockHead+maxTime)
		if err != nil {
			return err
		}
		if len(part) < blockHead {
			l.info.Incomplete = badf(l.end, "the file ends within a block")
			return nil
		}
		if err := l.addPart(w, part); err != nil || l.info.Incomplete != nil {
			return err
		}
	}
	return nil
}

// addPart adds the blocks that begin in a part of the window, which begins at end. It may leave
// out those at the end of the part.
func (l *Log) addPart(w *window, part []byte) error {
	least := min(blockHead+maxTime, len(part))
	for len(part) >= least {
		size := int(binary.LittleEndian.Uint16(part[1:]))
		if size < 2 {
			return badf(l.end, "a block of size %d: want at least 2, those of the size itself", size)
		}
		if int64(size)+1 > w.size-l.end {
			l.info.Incomplete = badf(l.end, "the file ends within a block of %d bytes", size+1)
			return nil
		}
		off := l.end
		l.end += 1 + int64(size)
		switch part[0] {
		case blockRegion:
			return l.addRegion(w, off, size) // part is not valid behind it
		case blockTime:
			if size-2 > maxTime {
				return badf(off, "a time of %d bytes: want at most %d", size-2, maxTime)
			}
			var b [maxTime]byte
			copy(b[:], part[blockHead:][:size-2])
			l.millis, l.stamped = int64(binary.LittleEndian.Uint64(b[:])), true
		case blockClient, blockServer:
			if err := l.addPacket(off, part, size); err != nil {
				return err
			}
		}
		part = part[min(1+size, len(part)):]
	}
	return nil
}

// addRegion takes over the region, or the revision, of a block.
func (l *Log) addRegion(w *window, off int64, size int) error {
	text, err := w.bytes(off+blockHead, min(size-2, 64))
	if err != nil {
		return err
	}
	if isDigits(string(text)) {
		l.info.Revision = string(text)
	} else {
		l.info.Region = strings.ToValidUTF8(string(text), "\ufffd")
	}
	return nil
}

// addPacket adds the packet of a block that begins with head.
func (l *Log) addPacket(off int64, head []byte, size int) error {
	if size < packetHeader {
		return badf(off, "a packet of %d bytes: want at least 4", size)
	}
	code := binary.LittleEndian.Uint16(head[blockHead:])
	if len(l.index) == 0 {
		l.info.Old = code == checkVersion && size == oldCheckVersion
	}
	if l.info.Old && size < packetHeader+oldTail {
		return badf(off, "a packet of %d bytes in an old log: want at least 6", size)
	}
	l.mark(off)
	return l.add(off, code)
}

// mark notes the time of the packet at off and those behind it, if it is another one.
func (l *Log) mark(off int64) {
	if n := len(l.times); l.stamped && (n == 0 || l.times[n-1].millis != l.millis) {
		l.times = append(roomToGo(l.times, off, l.size), timeMark{len(l.index), l.millis})
	}
}

// time returns the time of packet i.
func (l *Log) time(i int) time.Time {
	n := l.marksBefore(i)
	if n == 0 {
		return time.Time{}
	}
	return fromTeraMillis(l.times[n-1].millis)
}

// marksBefore returns the number of times up to that of packet i. If packets are read in their
// order, it is mostly that of the packet before, or one more.
func (l *Log) marksBefore(i int) int {
	is := func(n int) bool {
		return (n == 0 || l.times[n-1].packet <= i) && (n == len(l.times) || n < len(l.times) && l.times[n].packet > i)
	}
	if l.near != nil {
		for n := *l.near; n <= min(*l.near+1, len(l.times)); n++ {
			if is(n) {
				*l.near = n
				return n
			}
		}
	}
	n := sort.Search(len(l.times), func(k int) bool { return l.times[k].packet > i })
	if l.near != nil {
		*l.near = n
	}
	return n
}

func (l *Log) readTeraLog(i int, buf []byte) (Packet, error) {
	// Read everything up to the next packet at once; there is seldom more than the packet.
	end := l.size
	if i+1 < len(l.index) {
		end = l.Offset(i + 1)
	}
	block := room(buf, int(min(end-l.Offset(i), 1+maxPacket)))
	if err := l.readAt(block, l.Offset(i)); err != nil {
		return Packet{}, err
	}
	p := Packet{Time: l.time(i), From: FromServer}
	if block[0] == blockClient {
		p.From = FromClient
	}
	// The size of the block, which counts itself, is the size of the packet.
	size := int(binary.LittleEndian.Uint16(block[1:]))
	if size > len(block)-1 || size < packetHeader || l.info.Old && size < packetHeader+oldTail {
		return Packet{}, fmt.Errorf("capture: packet %d changed since the log was opened", i)
	}
	p.Data = block[1:][:size]
	if l.info.Old {
		p.Data = p.Data[:size-oldTail]
		binary.LittleEndian.PutUint16(p.Data, uint16(len(p.Data)))
	}
	return p, nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
