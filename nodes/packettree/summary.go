package packettree

import (
	"fmt"
	"slices"
	"strings"

	"lorefs/protocol/capture"
)

// maxPacket is the longest packet in bytes.
const maxPacket = 65535

// sums is what the summary counts of one code.
type sums struct {
	packets, bytes, decoded, failed, unknown int64
}

func (s *sums) add(o *sums) {
	s.packets += o.packets
	s.bytes += o.bytes
	s.decoded += o.decoded
	s.failed += o.failed
	s.unknown += o.unknown
}

// summary is the content of summary.json. The first call decodes every packet.
func (t *Tree) summary() ([]byte, error) {
	t.sumMu.Lock()
	defer t.sumMu.Unlock()
	if t.sums == nil {
		all, err := t.count()
		if err != nil {
			return nil, err
		}
		t.sums = all
	}
	return t.appendSummary(nil, t.sums), nil
}

// count decodes every packet.
func (t *Tree) count() (map[uint16]*sums, error) {
	all := make(map[uint16]*sums, len(t.codes))
	var packet, text []byte
	for i := range t.log.Len() {
		c := t.log.Code(i)
		s := all[c]
		if s == nil {
			s = &sums{}
			all[c] = s
		}
		p, err := t.log.Packet(i, packet)
		if err != nil && !isDamage(err) {
			return nil, err
		}
		if cap(p.Data) > cap(packet) {
			packet = p.Data
		}
		s.packets++
		s.bytes += int64(len(p.Data))
		one := t.codes[c]
		switch {
		case err != nil || one.err != nil:
			s.failed++
		case one.table == nil:
			s.unknown++
		default:
			text, err = one.table.AppendJSON(text[:0], p.Data)
			if err != nil {
				s.failed++
			} else {
				s.decoded++
			}
		}
	}
	return all, nil
}

// appendSummary writes the summary. Its length is the same for all numbers, also
// before anything is counted, when all is nil.
func (t *Tree) appendSummary(dst []byte, all map[uint16]*sums) []byte {
	var total sums
	for _, s := range all {
		total.add(s)
	}
	info := t.log.Info()
	dst = fmt.Appendf(dst, "{\"format\":%q", info.Format)
	for _, part := range []struct{ key, text string }{
		{"revision", info.Revision},
		{"region", info.Region},
		{"patch", t.patchText()},
		{"map", t.mapFile},
		{"incomplete", incomplete(info)},
	} {
		if part.text != "" {
			dst = appendString(fmt.Appendf(dst, ",\n%q:", part.key), part.text)
		}
	}
	width := len(fmt.Sprint(int64(t.log.Len()) * maxPacket))
	dst = total.appendJSON(append(dst, ",\n"...), width)
	dst = append(dst, ",\n\"names\":["...)
	for i, c := range t.sortedCodes() {
		if i > 0 {
			dst = append(dst, ',')
		}
		one := t.codes[c]
		dst = fmt.Appendf(dst, "\n{\"name\":%q,\"code\":%d,", one.name, c)
		if one.table != nil {
			dst = fmt.Appendf(dst, "\"definition\":%q,", one.table.Name())
		}
		s := all[c]
		if s == nil {
			s = &sums{}
		}
		dst = append(s.appendJSON(dst, width), '}')
	}
	return append(dst, "\n]}\n"...)
}

// appendJSON appends the numbers, each as wide as the largest can be.
func (s *sums) appendJSON(dst []byte, width int) []byte {
	return fmt.Appendf(dst, `"packets":%*d,"bytes":%*d,"decoded":%*d,"failed":%*d,"unknown":%*d`,
		width, s.packets, width, s.bytes, width, s.decoded, width, s.failed, width, s.unknown)
}

func (t *Tree) patchText() string {
	if t.opts.Patch == 0 {
		return ""
	}
	return t.opts.Patch.String()
}

func incomplete(info capture.Info) string {
	if info.Incomplete == nil {
		return ""
	}
	return info.Incomplete.Error()
}

// sortedCodes orders the codes by name.
func (t *Tree) sortedCodes() []uint16 {
	codes := make([]uint16, 0, len(t.codes))
	for c := range t.codes {
		codes = append(codes, c)
	}
	slices.SortFunc(codes, func(a, b uint16) int {
		if n := strings.Compare(t.codes[a].name, t.codes[b].name); n != 0 {
			return n
		}
		return int(a) - int(b)
	})
	return codes
}
