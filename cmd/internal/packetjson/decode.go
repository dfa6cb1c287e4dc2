package packetjson

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"lorefs/protocol"
	"lorefs/protocol/capture"
)

// IsHex reports whether a text has only the hex digits of whole bytes.
func IsHex(s string) bool {
	return len(s)%2 == 0 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// IsPacket reports whether bytes have the length that a packet with this header has.
func IsPacket(b []byte) bool {
	return len(b) >= 4 && len(b) <= protocol.MaxPacket && int(binary.LittleEndian.Uint16(b)) == len(b)
}

// DecodeLine appends the packet of a line as a line of JSON. It appends nothing if the line
// is a comment.
func (k *Codec) DecodeLine(dst []byte, line string) ([]byte, error) {
	p, ok, err := capture.ParseLine(joinDigits(line))
	if err != nil || !ok {
		return dst, err
	}
	return k.decode(dst, &p)
}

// joinDigits removes the spaces from a line that has only the digits of one packet. Other
// lines may have numbers before the packet.
func joinDigits(line string) string {
	digits := strings.Join(strings.Fields(line), "")
	if !IsHex(digits) {
		return line
	}
	if b, err := hex.DecodeString(digits); err != nil || !IsPacket(b) {
		return line
	}
	return digits
}

// DecodeBytes appends a packet as a line of JSON.
func (k *Codec) DecodeBytes(dst, packet []byte) ([]byte, error) {
	return k.decode(dst, &capture.Packet{Data: packet})
}

// decode appends a packet as a line of JSON.
func (k *Codec) decode(dst []byte, p *capture.Packet) ([]byte, error) {
	named := Name{p.Name, "*"}
	if p.Version > 0 {
		named.version = strconv.Itoa(p.Version)
	}
	table, err := k.table(named, p.Code())
	if err != nil {
		return dst, err
	}
	if k.opts.Library == nil {
		dst, err = table.AppendJSON(dst, p.Data)
		return append(dst, '\n'), err
	}
	dst = fmt.Appendf(dst, `{"definition":%q,"packet":`, table.Name())
	dst, err = table.AppendJSON(dst, p.Data)
	return append(dst, "}\n"...), err
}
