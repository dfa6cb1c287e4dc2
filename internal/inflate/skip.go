package inflate

import "encoding/binary"

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
	for found := false; !found && d.err == nil; {
		if d.end-d.pos < fastInput {
			d.fill()
		}
		if d.end-d.pos >= fastInput {
			s, found, d.err = d.skipFast(out, stop, reach)
		} else {
			s, found, d.err = d.skipOne(out, stop, reach)
		}
		out = s.Out
	}
	if s.IsEnd {
		d.state = atEnd
	}
	return s, d.err
}

// skipOne skips one symbol anywhere, also at the very end of the input. It reports whether it found
// one that is not to be skipped.
func (d *Decoder) skipOne(out, stop, reach int64) (s Symbol, found bool, err error) {
	d.refill()
	s.Out, s.From = out, d.bitOffset()
	if d.nbits < d.codes.endBits {
		return s, false, d.inputErr()
	}
	e := d.codes.litLen[d.bits&(1<<litLenRoot-1)]
	if e&flagLink != 0 {
		e = d.codes.litLen[(e>>valueShift+uint32(d.bits>>litLenRoot)&(1<<(e&lenMask)-1))&(litLenTableSize-1)]
	}
	value, err := d.takeValue(e, badLength)
	if err != nil {
		return s, false, err
	}
	s.IsEnd = e&flagEnd != 0
	if e&flagLiteral != 0 {
		s.Token = Literal(byte(value))
	} else if !s.IsEnd {
		dist, err := d.takeDistance()
		if err != nil {
			return s, false, err
		}
		s.Token = Match(value, dist)
	}
	s.To = d.bitOffset()
	n := int64(s.Token.Len())
	if dist := int64(s.Token.Dist()); s.IsEnd || out+n > stop || dist > 0 && out-dist < reach {
		return s, true, nil
	}
	s.Out += n
	return s, false, nil
}

// skipFast is skipOne for as many symbols as possible while there is ample input. The caller must
// have checked for at least fastInput bytes. It resembles decodeFast.
func (d *Decoder) skipFast(out, stop, reach int64) (s Symbol, found bool, err error) {
	in, ip := d.in[:d.end], d.pos
	bb, nb := d.bits, d.nbits
	litLen, distances := &d.codes.litLen, &d.codes.dist
	inStop := len(in) - fastInput
	what := ""
	var took uint // bits of the symbol that was found

	for ip <= inStop {
		bb |= binary.LittleEndian.Uint64(in[ip:ip+8:ip+8]) << (nb & 63)
		ip += int((63 - nb) >> 3)
		nb |= 56

		e := litLen[bb&(1<<litLenRoot-1)]
		if e&flagLiteral != 0 && out < stop {
			bb >>= e & lenMask
			nb -= uint(e & lenMask)
			out++
			e = litLen[bb&(1<<litLenRoot-1)]
			if e&flagLiteral != 0 && out < stop {
				bb >>= e & lenMask
				nb -= uint(e & lenMask)
				out++
				e = litLen[bb&(1<<litLenRoot-1)]
			}
		}
		if e&flagLink != 0 {
			e = litLen[(e>>valueShift+uint32(bb>>litLenRoot)&(1<<(e&lenMask)-1))&(litLenTableSize-1)]
		}
		if e&flagInvalid != 0 {
			what = badLength
			break
		}
		value := int(e>>valueShift) + int((bb&(1<<(e&lenMask)-1))>>(e>>codeLenShift&maxCodeLen))
		took = uint(e & lenMask)
		bb >>= took
		nb -= took
		if e&(flagLiteral|flagEnd) != 0 {
			if e&flagLiteral != 0 && out < stop {
				out++
				continue
			}
			s.Token, s.IsEnd = Literal(byte(value)), e&flagEnd != 0
			found = true
			break
		}

		if nb < maxCodeLen+13 {
			bb |= binary.LittleEndian.Uint64(in[ip:ip+8:ip+8]) << (nb & 63)
			ip += int((63 - nb) >> 3)
			nb |= 56
		}
		e = distances[bb&(1<<distRoot-1)]
		if e&flagLink != 0 {
			e = distances[(e>>valueShift+uint32(bb>>distRoot)&(1<<(e&lenMask)-1))&(distTableSize-1)]
		}
		if e&flagInvalid != 0 {
			what = badDistance
			break
		}
		dist := int(e>>valueShift) + int((bb&(1<<(e&lenMask)-1))>>(e>>codeLenShift&maxCodeLen))
		took += uint(e & lenMask)
		bb >>= e & lenMask
		nb -= uint(e & lenMask)
		if out+int64(value) > stop || out-int64(dist) < reach {
			s.Token, found = Match(value, dist), true
			break
		}
		out += int64(value)
	}

	d.pos, d.nbits = ip, nb
	d.bits = bb & (1<<nb - 1)
	if what != "" {
		return s, false, d.corrupt(what)
	}
	s.Out, s.To = out, d.bitOffset()
	s.From = s.To - int64(took)
	return s, found, nil
}
