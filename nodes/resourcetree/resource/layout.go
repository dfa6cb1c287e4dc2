package resource

import (
	"crypto/subtle"
	"encoding/binary"
)

const (
	// magic ends a container that is not encrypted.
	magic = 0x01001fff
	// trailerSize is the size of what follows the directory.
	trailerSize = 4 + 4
	// entrySize is the size of an entry without its name, nulSize that of the end of the name.
	entrySize = 4 + 4
	nulSize   = 2
)

var key = [...]byte{
	0x1c, 0x24, 0, 0, 0x1f, 0x04, 0, 0, 0x72, 0xf4, 0, 0, 0x1d, 0x62, 0, 0,
	0xbd, 0xa8, 0, 0, 0xdb, 0xa7, 0, 0, 0x01, 0x30, 0, 0, 0x33, 0x27, 0, 0,
}

// keys is the key again and again, to combine many bytes with at once.
var keys = func() (k [4 << 10]byte) {
	for i := range k {
		k[i] = key[i%len(key)]
	}
	return k
}()

// crypt encrypts or decrypts bytes that begin at an offset in what is combined with the key.
func crypt(p []byte, off int64) {
	for len(p) > 0 {
		n := subtle.XORBytes(p, p, keys[off%int64(len(key)):])
		p, off = p[n:], off+int64(n)
	}
}

// trailer is the end of a container.
type trailer struct{ directorySize, magic uint32 }

func parseTrailer(b *[trailerSize]byte) trailer {
	return trailer{binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint32(b[4:])}
}

func (t trailer) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, t.directorySize)
	return binary.LittleEndian.AppendUint32(b, t.magic)
}
