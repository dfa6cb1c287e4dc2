package inflate

import "golang.org/x/sys/cpu"

// hasHotLoop says that the processor can run hotLoop: it shifts by any register (BMI2), and takes 16 bytes in
// any order (SSSE3).
var hasHotLoop = cpu.X86.HasBMI2 && cpu.X86.HasSSSE3

// hotState goes into hotLoop and comes back changed.
type hotState struct {
	in, buf         *byte // of which the others are indices
	ip, p           int
	inStop, outStop int // the last ip and p at which a round may begin
	floor           int
	bits            uint64
	nbits           uint
	codes           *codes
	repeats         *[nearDist]repeat
	end             int // one of the constants below
	ended           uint64
}

// What hotLoop ends with: a lack of input or room, the end of the block, whose code has the length ended, or a
// fault.
const (
	hotPaused = iota
	hotEnded
	hotBadLength
	hotBadDistance
	hotFarDistance
)

var hotFaults = [...]string{hotBadLength: badLength, hotBadDistance: badDistance, hotFarDistance: farDistance}

// nearDist is the first distance at which 16 bytes may be copied at once.
const nearDist = 16

// repeat says how the bytes of a short distance are repeated: by their order, in 16 bytes, of which stride are
// whole repetitions.
type repeat struct {
	order  [nearDist]uint8
	stride uint64
	_      uint64 // hotLoop shifts to find an element
}

// repeats has a repeat for each distance.
var repeats = func() (all [nearDist]repeat) {
	for dist := 1; dist < nearDist; dist++ {
		r := &all[dist]
		for i := range r.order {
			r.order[i] = uint8(i % dist)
		}
		r.stride = uint64(nearDist - nearDist%dist)
	}
	return all
}()

// hotLoop is the loop of decodePortable.
//
//go:noescape
func hotLoop(s *hotState)

// hotAtOnce is about how much output hotLoop makes at once. Garbage collection has to wait until it returns.
const hotAtOnce = 1 << 20

// decodeHot is decodeFast by hotLoop.
func (d *Decoder) decodeHot(buf []byte, p, floor int) (int, string) {
	s := hotState{
		in: &d.in[0], ip: d.pos, inStop: d.end - fastInput,
		buf: &buf[0], p: p, outStop: min(len(buf)-fastOutput, p+hotAtOnce), floor: floor,
		bits: d.bits, nbits: d.nbits, codes: d.codes, repeats: &repeats,
	}
	hotLoop(&s)
	d.pos, d.bits, d.nbits = s.ip, s.bits, s.nbits
	if s.end == hotEnded {
		d.endBlock(d.bitOffset() - int64(s.ended))
		return s.p, ""
	}
	return s.p, hotFaults[s.end]
}
