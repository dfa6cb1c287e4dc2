package inflate

// Block types of RFC 1951 section 3.2.3.
const (
	typeStored  = 0
	typeFixed   = 1
	typeDynamic = 2
)

// Symbols of the code length code that stand for a repetition (RFC 1951 section
// 3.2.7).
const (
	repeatPrevious  = 16
	repeatZero      = 17
	repeatZeroLong  = 18
	minRepeat       = 3
	minRepeatLong   = 11
	repeatPrevBits  = 2
	repeatZeroBits  = 3
	repeatLongBits  = 7
	codeLengthWidth = 3
)

// codeLengthOrder is the order in which the lengths of the code length code are
// stored.
var codeLengthOrder = [numCodeLen]uint8{
	16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
}

// readHeader reads the header of the next block and prepares for its content.
func (d *Decoder) readHeader() error {
	d.header = d.bitOffset()
	v, err := d.take(3)
	if err != nil {
		return err
	}
	d.final = v&1 != 0
	switch v >> 1 {
	case typeStored:
		d.state = inStored
		return d.readStoredHeader()
	case typeFixed:
		d.state = inHuffman
		d.codes = fixedCodes()
		return nil
	case typeDynamic:
		d.state = inHuffman
		d.codes = &d.dynamic
		return d.readCodes()
	}
	return d.corrupt("invalid block type")
}

func (d *Decoder) readStoredHeader() error {
	d.drop(d.nbits & 7) // to the next byte boundary: the bit buffer ends at one
	v, err := d.take(32)
	if err != nil {
		return err
	}
	if uint16(v) != ^uint16(v>>16) {
		return d.corrupt("stored block lengths do not match")
	}
	d.stored = int(v & 0xffff)
	return nil
}

// readCodes reads the codes of a dynamic block (RFC 1951 section 3.2.7).
func (d *Decoder) readCodes() error {
	v, err := d.take(14)
	if err != nil {
		return err
	}
	hlit, hdist, hclen := v&31+257, v>>5&31+1, v>>10+4
	if hlit > maxHLIT || hdist > maxHDIST {
		return d.corrupt("too many length or distance symbols")
	}
	if err := d.readCodeLengthCode(hclen); err != nil {
		return err
	}
	d.litLens, d.dists = int(hlit), int(hdist)
	lengths := d.lengths[:hlit+hdist]
	if err := d.readLengths(lengths); err != nil {
		return err
	}
	if lengths[endOfBlock] == 0 {
		return d.corrupt("missing end-of-block code")
	}
	d.dynamic.endBits = uint(lengths[endOfBlock])
	if !d.huffman.build(d.dynamic.litLen[:], litLenEntries[:], lengths[:hlit], litLenRoot) {
		return d.corrupt("invalid literal/length code")
	}
	if !d.huffman.build(d.dynamic.dist[:], distEntries[:], lengths[hlit:], distRoot) {
		return d.corrupt("invalid distance code")
	}
	return nil
}

func (d *Decoder) readCodeLengthCode(n uint) error {
	var lengths [numCodeLen]uint8
	for _, symbol := range codeLengthOrder[:n] {
		v, err := d.take(codeLengthWidth)
		if err != nil {
			return err
		}
		lengths[symbol] = uint8(v)
	}
	if !d.huffman.build(d.codeLen[:], codeLenEntries[:], lengths[:], codeLenRoot) {
		return d.corrupt("invalid code length code")
	}
	return nil
}

// readLengths reads the code lengths of both codes, which form one sequence: a
// repetition may run from the first into the second.
func (d *Decoder) readLengths(lengths []uint8) error {
	for i := 0; i < len(lengths); {
		symbol, err := d.takeCodeLength()
		if err != nil {
			return err
		}
		if symbol < repeatPrevious {
			lengths[i] = symbol
			i++
			continue
		}
		if symbol == repeatPrevious && i == 0 {
			return d.corrupt("no code length to repeat")
		}
		value, n, err := d.takeRepeat(symbol, lengths[:i])
		if err != nil {
			return err
		}
		if n > len(lengths)-i {
			return d.corrupt("too many code lengths")
		}
		for range n {
			lengths[i] = value
			i++
		}
	}
	return nil
}

func (d *Decoder) takeCodeLength() (uint8, error) {
	if d.nbits < codeLenRoot {
		d.refill()
	}
	e := d.codeLen[d.bits&(codeLenTableSize-1)]
	n := uint(e & lenMask)
	if n > d.nbits {
		return 0, d.inputErr()
	}
	if e&flagInvalid != 0 {
		return 0, d.corrupt("invalid code length symbol")
	}
	d.drop(n)
	return uint8(e >> valueShift), nil
}

// takeRepeat returns what to repeat, and how often. before must not be empty if the symbol
// is repeatPrevious.
func (d *Decoder) takeRepeat(symbol uint8, before []uint8) (value uint8, n int, err error) {
	width, least := uint(repeatZeroBits), minRepeat
	switch symbol {
	case repeatPrevious:
		width = repeatPrevBits
		value = before[len(before)-1]
	case repeatZeroLong:
		width, least = repeatLongBits, minRepeatLong
	}
	v, err := d.take(width)
	return value, least + int(v), err
}
