package inflate

import "encoding/binary"

const (
	// fastInput is the input that one round of the hot loop may load: two refills of the
	// bit buffer, each of which reads 8 bytes and advances by at most 7.
	fastInput = 16

	// fastOutput is the output that one round of the hot loop may touch: two literals, a
	// match, and the excess of copying that in pairs of words (31).
	fastOutput = 2 + maxMatchLen + 32
)

// decodeHuffman decodes symbols into buf[p:] until it is full or the block ends, and
// returns the new p. Matches reach back to floor at most.
func (d *Decoder) decodeHuffman(buf []byte, p, floor int) (int, error) {
	if d.matchLen > 0 {
		p = d.copyCut(buf, p)
	}
	for p < len(buf) && d.state == inHuffman {
		if d.end-d.pos < fastInput {
			d.fill()
		}
		if d.end-d.pos >= fastInput && len(buf)-p >= fastOutput {
			var what string
			if p, what = d.decodeFast(buf, p, floor); what != "" {
				return p, d.corrupt(what)
			}
			continue
		}
		var err error
		if p, err = d.decodeSymbol(buf, p, floor); err != nil {
			return p, err
		}
	}
	return p, nil
}

// decodeSymbol decodes one symbol anywhere, also at the very end of the input or of buf.
func (d *Decoder) decodeSymbol(buf []byte, p, floor int) (int, error) {
	from := d.bitOffset()
	t, end, err := d.token()
	switch {
	case err != nil:
		return p, err
	case end:
		d.endBlock(from)
		return p, nil
	case t.Dist() == 0:
		buf[p] = t.Byte()
		return p + 1, nil
	case t.Dist() > p-floor:
		return p, d.corrupt(farDistance)
	}
	d.matchLen, d.matchDist = t.Len(), t.Dist()
	return d.copyCut(buf, p), nil
}

// token reads one symbol anywhere, also at the very end of the input. The token is undefined if it is
// the end of the block.
func (d *Decoder) token() (t Token, end bool, err error) {
	d.refillFast() // enough for the whole symbol, unless the input ends here
	if d.nbits < d.codes.endBits {
		return 0, false, d.inputErr()
	}
	e := d.codes.litLen[d.bits&(1<<litLenRoot-1)]
	if e&flagLink != 0 {
		e = d.codes.litLen[(e>>valueShift+uint32(d.bits>>litLenRoot)&(1<<(e&lenMask)-1))&(litLenTableSize-1)]
	}
	value, err := d.takeValue(e, badLength)
	switch {
	case err != nil || e&flagEnd != 0:
		return 0, err == nil, err
	case e&flagLiteral != 0:
		return Literal(byte(value)), false, nil
	}
	dist, err := d.takeDistance()
	return Match(value, dist), false, err
}

// takeDistance consumes the distance of a match.
func (d *Decoder) takeDistance() (int, error) {
	e := d.codes.dist[d.bits&(1<<distRoot-1)]
	if e&flagLink != 0 {
		e = d.codes.dist[(e>>valueShift+uint32(d.bits>>distRoot)&(1<<(e&lenMask)-1))&(distTableSize-1)]
	}
	return d.takeValue(e, badDistance)
}

// takeValue consumes the code and the extra bits of an entry and returns their value. It
// checks in the order of reading: the code, its validity, its extra bits.
func (d *Decoder) takeValue(e uint32, bad string) (int, error) {
	code, all := uint(e>>codeLenShift&maxCodeLen), uint(e&lenMask)
	if code > d.nbits {
		return 0, d.inputErr()
	}
	if e&flagInvalid != 0 {
		return 0, d.corrupt(bad)
	}
	if all > d.nbits {
		return 0, d.inputErr()
	}
	value := int(e>>valueShift) + int(d.bits&(1<<all-1)>>code)
	d.drop(all)
	return value, nil
}

// copyCut copies as much of the pending match as fits into buf[p:].
func (d *Decoder) copyCut(buf []byte, p int) int {
	n := min(d.matchLen, len(buf)-p)
	from := buf[p-d.matchDist:]
	for i, to := 0, buf[p:p+n]; i < len(to); i++ {
		to[i] = from[i]
	}
	d.matchLen -= n
	if d.matchLen == 0 {
		d.matchDist = 0
	}
	return p + n
}

// decodeFast decodes symbols while there is ample input and room, or until the block ends.
// It returns the new p and what is corrupt, if anything is. The caller must have checked
// for at least fastInput and fastOutput bytes.
func (d *Decoder) decodeFast(buf []byte, p, floor int) (int, string) {
	if hasHotLoop {
		return d.decodeHot(buf, p, floor)
	}
	return d.decodePortable(buf, p, floor)
}

// decodePortable is decodeFast for every processor. What hotLoop decides, it decides too, at the same bit.
//
// The state is kept in local variables, which makes it fast. In the bit buffer the bits
// from nb on may be set: they are those of the bytes at ip, and loading these again does
// not change them.
//
// Slices have three indices because with a constant capacity the compiler need not guard
// against a pointer behind the array. That makes a fifth of the speed.
func (d *Decoder) decodePortable(buf []byte, p, floor int) (int, string) {
	in, ip := d.in[:d.end], d.pos
	bb, nb := d.bits, d.nbits
	litLen, distances := &d.codes.litLen, &d.codes.dist
	inStop, outStop := len(in)-fastInput, len(buf)-fastOutput
	what, ended := "", uint32(0)

	bb |= binary.LittleEndian.Uint64(in[ip:ip+8:ip+8]) << (nb & 63)
	ip += int((63 - nb) >> 3)
	nb |= 56
	e := litLen[bb&(1<<litLenRoot-1)]
	for ip <= inStop && p <= outStop {
		// Up to two literals with codes of at most litLenRoot bits, and any
		// symbol with its extra bits: 2*11 + 15 + 5 of at least 56 bits.
		if e&flagLiteral != 0 {
			bb >>= e & lenMask
			nb -= uint(e & lenMask)
			buf[p] = byte(e >> valueShift)
			p++
			e = litLen[bb&(1<<litLenRoot-1)]
			if e&flagLiteral != 0 {
				bb >>= e & lenMask
				nb -= uint(e & lenMask)
				buf[p] = byte(e >> valueShift)
				p++
				e = litLen[bb&(1<<litLenRoot-1)]
			}
		}
		if e&(flagLiteral|flagLink|flagEnd|flagInvalid) != 0 {
			if e&flagLink != 0 {
				e = litLen[(e>>valueShift+uint32(bb>>litLenRoot)&(1<<(e&lenMask)-1))&(litLenTableSize-1)]
			}
			if e&flagLiteral != 0 {
				bb >>= e & lenMask
				nb -= uint(e & lenMask)
				buf[p] = byte(e >> valueShift)
				p++
				bb |= binary.LittleEndian.Uint64(in[ip:ip+8:ip+8]) << (nb & 63)
				ip += int((63 - nb) >> 3)
				nb |= 56
				e = litLen[bb&(1<<litLenRoot-1)]
				continue
			}
			if e&flagEnd != 0 {
				ended = e & lenMask
				bb >>= ended
				nb -= uint(ended)
				break
			}
			if e&flagInvalid != 0 {
				what = badLength
				break
			}
		}
		length := int(e>>valueShift) + int((bb&(1<<(e&lenMask)-1))>>(e>>codeLenShift&maxCodeLen))
		bb >>= e & lenMask
		nb -= uint(e & lenMask)

		if nb < maxCodeLen+13 {
			bb |= binary.LittleEndian.Uint64(in[ip:ip+8:ip+8]) << (nb & 63)
			ip += int((63 - nb) >> 3)
			nb |= 56
		}
		e = distances[bb&(1<<distRoot-1)]
		if e&(flagLink|flagInvalid) != 0 {
			if e&flagLink != 0 {
				e = distances[(e>>valueShift+uint32(bb>>distRoot)&(1<<(e&lenMask)-1))&(distTableSize-1)]
			}
			if e&flagInvalid != 0 {
				what = badDistance
				break
			}
		}
		dist := int(e>>valueShift) + int((bb&(1<<(e&lenMask)-1))>>(e>>codeLenShift&maxCodeLen))
		bb >>= e & lenMask
		nb -= uint(e & lenMask)
		if dist > p-floor {
			what = farDistance
			break
		}

		// The next entry is on its way while the match is copied, whose length is hard to foresee.
		bb |= binary.LittleEndian.Uint64(in[ip:ip+8:ip+8]) << (nb & 63)
		ip += int((63 - nb) >> 3)
		nb |= 56
		e = litLen[bb&(1<<litLenRoot-1)]

		// The words do not overlap, so each is copied whole before the next is read, as a
		// match that overlaps itself requires.
		end := p + length
		if dist >= 16 {
			// A second word is copied even if one suffices: that is cheaper than to guess wrong, and
			// five of six matches in data centers end within two.
			for q := p - dist; ; q += 32 {
				*(*[16]byte)(buf[p : p+16 : p+16]) = *(*[16]byte)(buf[q : q+16 : q+16])
				*(*[16]byte)(buf[p+16 : p+32 : p+32]) = *(*[16]byte)(buf[q+16 : q+32 : q+32])
				if p += 32; p >= end {
					break
				}
			}
		} else {
			copyNear(buf, p, dist, length)
		}
		p = end
	}

	d.pos, d.nbits = ip, nb
	d.bits = bb & (1<<nb - 1)
	if ended != 0 {
		d.endBlock(d.bitOffset() - int64(ended))
	}
	return p, what
}

// stride is how far a word advances that holds a whole number of repetitions of a short
// distance.
var stride = [8]int{1: 8, 2: 8, 3: 6, 4: 8, 5: 5, 6: 6, 7: 7}

// copyNear copies a match at a distance of less than 16 in words of 8 bytes. It may write
// and read up to 7 bytes too many, for which there must be room.
func copyNear(buf []byte, p, dist, length int) {
	end := p + length
	if dist >= 8 {
		// A word is read before any byte of it is written.
		for q := p - dist; p < end; p, q = p+8, q+8 {
			binary.LittleEndian.PutUint64(buf[p:p+8:p+8], binary.LittleEndian.Uint64(buf[q:q+8:q+8]))
		}
		return
	}
	// The distance is shorter than a word: repeat its bytes within one.
	v := binary.LittleEndian.Uint64(buf[p-dist:]) & (1<<(8*dist) - 1)
	for n := dist; n < 8; n *= 2 {
		v |= v << (8 * n)
	}
	step := stride[dist&7]
	for ; p < end; p += step {
		binary.LittleEndian.PutUint64(buf[p:p+8:p+8], v)
	}
}
