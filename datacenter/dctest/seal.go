package dctest

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/aes"
	"encoding/binary"
	"encoding/hex"
	"hash/adler32"
	"sync"
)

// DefaultKey and DefaultIV are novadrop's defaults, those of a client that its makers
// published.
var (
	DefaultKey = mustHex("3347a174f9040d4768a0b05558dc866b")
	DefaultIV  = mustHex("e490562821af3e1176c98d3cb9ec4601")
)

func mustHex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic("dctest: BUG: " + err.Error())
	}
	return b
}

// SealOptions choose how an image becomes a file. The zero value is as in official files,
// with a zlib trailer.
type SealOptions struct {
	// Key and IV default to DefaultKey and DefaultIV.
	Key, IV []byte
	// Level is the level of compress/flate. 0 stands for flate.DefaultCompression; for
	// flate.NoCompression set Stored.
	Level  int
	Stored bool
	// Deflate makes the deflate stream instead.
	Deflate func(data []byte) []byte
	// ZlibHeader are the two bytes of the zlib header. The default is 78 9c.
	ZlibHeader [2]byte
	// Size replaces the stated size, SizeDelta is added to it.
	Size      *uint32
	SizeDelta int64
	// NoAdler omits the trailer of the zlib stream, WrongAdler negates it.
	NoAdler, WrongAdler bool
	// Trailing follows the zlib stream, and is encrypted as well.
	Trailing []byte
	// Cut removes that many bytes from the end of the file.
	Cut int
}

// Seal deflates and encrypts the image.
func (m *Image) Seal(o SealOptions) []byte { return Seal(m.Data, o) }

// Seal deflates and encrypts data.
func Seal(data []byte, o SealOptions) []byte {
	return sealStream(int64(len(data)), deflate(data, o), adler32.Checksum(data), o)
}

// deflaters are writers that can be used again, by their levels. A new one takes a megabyte.
var deflaters [1 + flate.BestCompression - flate.HuffmanOnly]sync.Pool

func deflate(data []byte, o SealOptions) []byte {
	if o.Deflate != nil {
		return o.Deflate(data)
	}
	level := cmp.Or(o.Level, flate.DefaultCompression)
	if o.Stored {
		level = flate.NoCompression
	}
	var buf bytes.Buffer
	w, ok := deflaters[level-flate.HuffmanOnly].Get().(*flate.Writer)
	if !ok {
		var err error
		if w, err = flate.NewWriter(&buf, level); err != nil {
			panic("dctest: BUG: " + err.Error())
		}
	}
	defer deflaters[level-flate.HuffmanOnly].Put(w)
	w.Reset(&buf)
	_, err := w.Write(data)
	if err := cmp.Or(err, w.Close()); err != nil {
		panic("dctest: BUG: " + err.Error())
	}
	return buf.Bytes()
}

// sealStream makes a file of a deflate stream that inflates to size bytes.
func sealStream(size int64, stream []byte, sum uint32, o SealOptions) []byte {
	stated := uint32(size + o.SizeDelta)
	if o.Size != nil {
		stated = *o.Size
	}
	header := cmp.Or(o.ZlibHeader, [2]byte{0x78, 0x9c})
	file := binary.LittleEndian.AppendUint32(nil, stated)
	file = append(file, header[:]...)
	file = append(file, stream...)
	if o.WrongAdler {
		sum = ^sum
	}
	if !o.NoAdler {
		file = binary.BigEndian.AppendUint32(file, sum)
	}
	file = append(file, o.Trailing...)
	return encrypt(file[:len(file)-o.Cut], o)
}

// encrypt encrypts text in place by AES in CFB mode with feedback of whole blocks. The last
// block is not padded.
func encrypt(text []byte, o SealOptions) []byte {
	key, iv := o.Key, o.IV
	if key == nil {
		key = DefaultKey
	}
	if iv == nil {
		iv = DefaultIV
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("dctest: BUG: " + err.Error())
	}
	var stream [aes.BlockSize]byte
	previous := iv
	for at := 0; at < len(text); at += aes.BlockSize {
		block.Encrypt(stream[:], previous)
		part := text[at:min(at+aes.BlockSize, len(text))]
		for i := range part {
			part[i] ^= stream[i]
		}
		previous = part
	}
	return text
}
