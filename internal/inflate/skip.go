package inflate

// Symbol is a token of a compressed block, or the block's end, and where it lies.
type Symbol struct {
	Token    Token // undefined if IsEnd
	Out      int64 // offset of its first byte in the inflated data
	From, To int64 // bit offsets in the deflate stream
	IsEnd    bool  // it is the end of the block
}

// BlockHeader tells what the header of a block says.
type BlockHeader struct {
	Stored bool
	Final  bool // the block is the last one
	// LitLen and Dist are the code lengths by symbol of a block with codes of its own. They are
	// valid until the next Reset.
	LitLen, Dist []uint8
}

// BeginBlock reads the header of a block at a bit offset. end is where the block ends: little is
// read behind that. Afterwards the Decoder needs a Reset, unless Skip follows.
func (d *Decoder) BeginBlock(header, end int64) (h BlockHeader, err error) {
	d.Expect(end)
	if err := d.Reset(Point{In: header, Header: header}); err != nil {
		return h, err
	}
	if d.err = d.readHeader(); d.err != nil {
		return h, d.err
	}
	h.Stored, h.Final = d.state == inStored, d.final
	if d.codes == &d.dynamic && !h.Stored {
		h.LitLen, h.Dist = d.lengths[:d.litLens], d.lengths[d.litLens:d.litLens+d.dists]
	}
	return h, nil
}

// Skip skips symbols of a compressed block, of which BeginBlock has read the header. The next one
// begins at offset out of the inflated data. It skips what ends at stop at most and, if it is a
// match, copies nothing before the offset reach. It returns the first symbol that is not skipped,
// which has been read as well.
func (d *Decoder) Skip(out, stop, reach int64) (s Symbol, err error) {
	if d.err != nil {
		return s, d.err
	}
	if d.state != inHuffman {
		d.err = errNoSymbols
		return s, d.err
	}
	for {
		s.Out, s.From = out, d.bitOffset()
		if s.Token, s.IsEnd, d.err = d.token(); d.err != nil {
			return s, d.err
		}
		n, dist := int64(s.Token.Len()), int64(s.Token.Dist())
		if s.IsEnd || out+n > stop || dist > 0 && out-dist < reach {
			break
		}
		out += n
	}
	if s.To = d.bitOffset(); s.IsEnd {
		d.state = atEnd
	}
	return s, nil
}
