package packettree

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"lorefs/internal/wtf8"
	"lorefs/nodes"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// codeOf returns the description of packet i's code.
func (t *Tree) codeOf(i int) *dissect.Code { return t.recording.Code(t.log.Code(i)) }

func (t *Tree) packetName(k kind, i int) string {
	end := ".json"
	if k == kindBin {
		end = ".bin"
	}
	return fmt.Sprintf("%0*d-%s%s", t.digits, i, t.codeOf(i).Name, end)
}

// packetEntry describes a packet's file. A damaged packet has no .bin.
func (t *Tree) packetEntry(k kind, i int) (nodes.Entry, error) {
	b := t.buffers.Get().(*buffers)
	defer t.buffers.Put(b)
	p, err := t.log.Packet(i, b.packet)
	if err != nil && !dissect.IsDamage(err) {
		return nodes.Entry{}, notEnd(err)
	}
	if cap(p.Data) > cap(b.packet) {
		b.packet = p.Data
	}
	e := nodes.Entry{Name: t.packetName(k, i), ID: makeID(k, i), Kind: nodes.File, Size: int64(len(p.Data)), ModTime: p.Time}
	if k == kindBin {
		if err != nil {
			return nodes.Entry{}, nodes.NotExist(e.Name)
		}
		return e, nil
	}
	size := t.jsonSizes[i].Load()
	if size == 0 {
		b.json = t.appendPacket(b.json[:0], i, &p, err)
		size = uint32(len(b.json)) + 1
		t.jsonSizes[i].Store(size)
	}
	e.Size = int64(size - 1)
	return e, nil
}

// packetJSON returns the content of a packet's JSON file.
func (t *Tree) packetJSON(i int) ([]byte, error) {
	p, err := t.log.Packet(i, nil)
	if err != nil && !dissect.IsDamage(err) {
		return nil, err
	}
	return t.appendPacket(nil, i, &p, err), nil
}

// appendPacket appends the JSON of a packet, or of its damage.
func (t *Tree) appendPacket(dst []byte, i int, p *capture.Packet, damage error) []byte {
	dst = append(dst, `{"number":`...)
	dst = strconv.AppendInt(dst, int64(i), 10)
	if !p.Time.IsZero() {
		dst = append(dst, `,"time":"`...)
		dst = p.Time.AppendFormat(dst, time.RFC3339Nano)
		dst = append(dst, '"')
	}
	if p.From != capture.Unknown {
		dst = append(dst, `,"from":"`...)
		dst = append(append(dst, p.From.String()...), '"')
	}
	if p.Fake {
		dst = append(dst, `,"fake":true`...)
	}
	c := t.codeOf(i)
	dst = append(dst, `,"name":"`...)
	dst = append(append(dst, c.Name...), '"')
	if damage != nil {
		dst = wtf8.AppendJSON(append(dst, `,"error":`...), damage.Error())
	} else {
		dst = appendFields(dst, c, p.Data)
	}
	return append(dst, "}\n"...)
}

// appendFields appends the fields of a packet, or its bytes in hex.
func appendFields(dst []byte, c *dissect.Code, packet []byte) []byte {
	err := c.Err
	if c.Table != nil {
		dst = append(dst, `,"definition":"`...)
		dst = append(append(dst, c.Table.Name()...), '"')
		before := len(dst)
		dst = append(dst, `,"packet":`...)
		if dst, err = c.Table.AppendJSON(dst, packet); err == nil {
			return dst
		}
		dst = dst[:before]
	}
	if err != nil {
		dst = wtf8.AppendJSON(append(dst, `,"error":`...), err.Error())
	}
	dst = append(dst, `,"hex":"`...)
	dst = hex.AppendEncode(dst, packet)
	return append(dst, '"')
}
