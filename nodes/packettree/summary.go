package packettree

import (
	"context"
	"fmt"

	"lorefs/internal/wtf8"
	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// maxPacket is the longest packet in bytes.
const maxPacket = 65535

// summary returns the content of summary.json. The first call decodes every packet.
func (t *Tree) summary(ctx context.Context) ([]byte, error) {
	counts := t.counts.Load()
	if counts == nil {
		all, err := t.recording.Count(ctx)
		if err != nil {
			return nil, err
		}
		counts = &all
		t.counts.Store(counts)
	}
	return t.appendSummary(nil, *counts), nil
}

// appendSummary appends the summary. Its length is the same for all numbers, also before
// anything is counted, when all is nil.
func (t *Tree) appendSummary(dst []byte, all map[uint16]dissect.Count) []byte {
	var total dissect.Count
	for _, c := range all {
		total.Add(c)
	}
	info := t.log.Info()
	dst = fmt.Appendf(dst, "{\"format\":%q", info.Format)
	for _, part := range []struct{ key, text string }{
		{"revision", t.recording.Revision()},
		{"region", info.Region},
		{"patch", patchText(t.recording.Patch())},
		{"map", t.recording.MapFile()},
		{"incomplete", incomplete(info)},
	} {
		if part.text != "" {
			dst = wtf8.AppendJSON(fmt.Appendf(dst, ",\n%q:", part.key), part.text)
		}
	}
	width := len(fmt.Sprint(int64(t.log.Len()) * maxPacket))
	dst = appendCount(append(dst, ",\n"...), total, width)
	dst = append(dst, ",\n\"names\":["...)
	for i, c := range t.recording.Codes() {
		if i > 0 {
			dst = append(dst, ',')
		}
		one := t.recording.Code(c)
		dst = fmt.Appendf(dst, "\n{\"name\":%q,\"code\":%d,", one.Name, c)
		if one.Table != nil {
			dst = fmt.Appendf(dst, "\"definition\":%q,", one.Table.Name())
		}
		dst = append(appendCount(dst, all[c], width), '}')
	}
	return append(dst, "\n]}\n"...)
}

// appendCount appends the numbers, each as wide as the largest can be.
func appendCount(dst []byte, c dissect.Count, width int) []byte {
	return fmt.Appendf(dst, `"packets":%*d,"bytes":%*d,"decoded":%*d,"failed":%*d,"unknown":%*d`,
		width, c.Packets, width, c.Bytes, width, c.Decoded, width, c.Failed, width, c.Unknown)
}

func patchText(p protocol.Patch) string {
	if p == 0 {
		return ""
	}
	return p.String()
}

func incomplete(info capture.Info) string {
	if info.Incomplete == nil {
		return ""
	}
	return info.Incomplete.Error()
}
