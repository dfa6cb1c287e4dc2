package dissect

import "context"

// Count counts packets and what became of them.
type Count struct {
	Packets int64 `json:"packets"`
	// Bytes is the size of the packets, headers included.
	Bytes int64 `json:"bytes"`
	// Decoded packets fit their definition. Failed ones do not, or are damaged, or have a
	// wrong definition. Unknown ones have none.
	Decoded int64 `json:"decoded"`
	Failed  int64 `json:"failed"`
	Unknown int64 `json:"unknown"`
}

// Add adds o to c.
func (c *Count) Add(o Count) {
	c.Packets += o.Packets
	c.Bytes += o.Bytes
	c.Decoded += o.Decoded
	c.Failed += o.Failed
	c.Unknown += o.Unknown
}

// askEvery is after how many packets a count checks its context.
const askEvery = 1024

// Count decodes every packet, and returns the count of each code.
func (r *Recording) Count(ctx context.Context) (map[uint16]Count, error) {
	all := make(map[uint16]Count, len(r.codes))
	var packet, text []byte
	for i := range r.log.Len() {
		if i%askEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p, err := r.log.Packet(i, packet)
		if err != nil && !IsDamage(err) {
			return nil, err
		}
		if cap(p.Data) > cap(packet) {
			packet = p.Data
		}
		c := r.log.Code(i)
		sum, one := all[c], r.codes[c]
		sum.Packets++
		sum.Bytes += int64(len(p.Data))
		switch {
		case err != nil || one.Err != nil:
			sum.Failed++
		case one.Table == nil:
			sum.Unknown++
		default:
			if text, err = one.Table.AppendJSON(text[:0], p.Data); err != nil {
				sum.Failed++
			} else {
				sum.Decoded++
			}
		}
		all[c] = sum
	}
	return all, nil
}
