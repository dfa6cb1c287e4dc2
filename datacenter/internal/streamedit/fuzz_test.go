package streamedit

import (
	"math/rand/v2"
	"testing"
)

// FuzzEdits makes edits from the fuzzer's bytes: each takes the way to it, the bytes it removes,
// and those it inserts.
func FuzzEdits(f *testing.F) {
	for i := range writers {
		f.Add(uint8(i), uint64(i), []byte{0, 0, 0, 4, 4, 1, 2, 3, 4, 9, 9, 0, 3})
		f.Add(uint8(i), uint64(i), []byte{100, 200, 1, 0, 3, 7, 7, 7, 0, 0, 255, 255, 0})
	}
	f.Fuzz(func(t *testing.T, writer uint8, seed uint64, script []byte) {
		rng := rand.New(rand.NewPCG(seed, 1))
		data := sampleData(rng, 1+rng.IntN(100_000))
		s := scan(t, writers[int(writer)%len(writers)].write(rng, data), len(data))
		var edits []Edit
		for at := int64(0); len(script) >= 5; {
			e := Edit{Off: at + int64(script[0])<<8 + int64(script[1]), Len: int64(script[2])<<4 + int64(script[3])}
			n := min(int(script[4]), len(script)-5)
			e.New = script[5 : 5+n]
			script = script[5+n:]
			if e.Off > int64(len(data)) {
				break
			}
			e.Len = min(e.Len, int64(len(data))-e.Off)
			if len(edits) > 0 && e.Len == 0 && e.Off == edits[len(edits)-1].Off {
				break
			}
			edits = append(edits, e)
			at = e.Off + e.Len
		}
		if len(apply(data, edits)) > 0 {
			s.edit(t, edits)
		}
	})
}
