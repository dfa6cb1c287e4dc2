// Package bltetest builds BLTE files for tests, valid and damaged ones.
package bltetest

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"lorefs/blte"
)

// The keys of the samples. SecretName is in none of the rings.
const (
	KeyName    = blte.KeyName(0x1122334455667788)
	SecretName = blte.KeyName(0x8877665544332211)
)

// Keys returns the ring that opens all samples but those of SecretName.
func Keys() blte.KeyRing { return blte.KeyRing{KeyName: Key()} }

// Key returns the key called KeyName, which is also that called SecretName.
func Key() blte.EncryptionKey { return blte.EncryptionKey([]byte("sixteen byte key")) }

// Build encodes chunks as a file.
func Build(tb testing.TB, opts blte.WriteOptions, chunks ...blte.Chunk) []byte {
	tb.Helper()
	file, err := blte.Append(nil, chunks, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return file
}

// Table makes a file of chunks that are already encoded, mode included.
func Table(encoded [][]byte, decoded []int) []byte {
	head := binary.BigEndian.AppendUint32([]byte("BLTE"), uint32(12+24*len(encoded)))
	head = append(head, 0x0f, byte(len(encoded)>>16), byte(len(encoded)>>8), byte(len(encoded)))
	for i, c := range encoded {
		sum := md5.Sum(c)
		head = binary.BigEndian.AppendUint32(head, uint32(len(c)))
		head = binary.BigEndian.AppendUint32(head, uint32(decoded[i]))
		head = append(head, sum[:]...)
	}
	return append(head, bytes.Join(encoded, nil)...)
}

// Frame encodes a file as a chunk of mode F.
func Frame(file []byte) []byte { return append([]byte{blte.ModeFrame}, file...) }

// Text returns n bytes that compress well.
func Text(n int) []byte {
	return bytes.Repeat([]byte("The lore of the land is long. "), n/30+1)[:n]
}

// Noise returns n bytes that don't compress. Another seed makes other bytes.
func Noise(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.UintN(256))
	}
	return b
}

// Sample is a valid file.
type Sample struct {
	Name          string
	File, Content []byte
}

func encryption(name blte.KeyName, cipher byte, iv ...byte) *blte.Encryption {
	return &blte.Encryption{Name: name, IV: iv, Cipher: cipher}
}

// Samples returns files of every mode and layout. Keys opens them all.
func Samples(tb testing.TB) []Sample {
	tb.Helper()
	text, noise := Text(5000), Noise(3000, 7)
	var samples []Sample
	add := func(name string, opts blte.WriteOptions, chunks ...blte.Chunk) {
		var content []byte
		for _, c := range chunks {
			content = append(content, c.Content...)
		}
		samples = append(samples, Sample{Name: name, File: Build(tb, opts, chunks...), Content: content})
	}
	plain := blte.Chunk{Content: text}
	packed := blte.Chunk{Content: noise, Mode: blte.ModeZlib}
	lz4 := blte.Chunk{Content: text, Mode: blte.ModeLZ4}
	blocks := blte.Chunk{Content: Text(150000), Mode: blte.ModeLZ4, LZ4Blocks: true}
	salsa4, salsa8, arc4 := packed, plain, lz4
	salsa4.Encrypt, salsa4.Key = encryption(KeyName, blte.CipherSalsa20, 1, 2, 3, 4), Key()
	salsa8.Encrypt, salsa8.Key = encryption(KeyName, blte.CipherSalsa20, 1, 2, 3, 4, 5, 6, 7, 8), Key()
	arc4.Encrypt, arc4.Key = encryption(KeyName, blte.CipherARC4, 9, 8, 7, 6), Key()
	add("plain", blte.WriteOptions{}, plain)
	add("zlib", blte.WriteOptions{}, packed)
	add("lz4", blte.WriteOptions{}, lz4)
	add("lz4 blocks", blte.WriteOptions{}, blocks)
	add("mixed", blte.WriteOptions{}, plain, packed, lz4, packed)
	add("long entries", blte.WriteOptions{Long: true}, packed, plain)
	add("encrypted", blte.WriteOptions{}, salsa4, salsa8, salsa4, plain, arc4)
	add("empty", blte.WriteOptions{}, blte.Chunk{})
	add("empty chunks", blte.WriteOptions{}, blte.Chunk{}, packed, blte.Chunk{Mode: blte.ModeZlib}, plain)
	add("no table, plain", blte.WriteOptions{NoTable: true}, plain)
	add("no table, zlib", blte.WriteOptions{NoTable: true}, packed)
	add("no table, lz4", blte.WriteOptions{NoTable: true}, lz4)
	add("no table, lz4 blocks", blte.WriteOptions{NoTable: true}, blocks)
	add("no table, encrypted", blte.WriteOptions{NoTable: true}, salsa4)
	return append(samples, frames(samples)...)
}

// frames puts the samples in chunks of mode F.
func frames(samples []Sample) []Sample {
	inner, other := samples[4], samples[8]
	deep := Frame(Table([][]byte{Frame(inner.File)}, []int{len(inner.Content)}))
	return []Sample{
		{
			Name: "frame", File: Table([][]byte{Frame(inner.File), Frame(other.File)}, []int{len(inner.Content), len(other.Content)}),
			Content: append(bytes.Clone(inner.Content), other.Content...),
		},
		{Name: "frame in frame", File: Table([][]byte{deep}, []int{len(inner.Content)}), Content: inner.Content},
	}
}
