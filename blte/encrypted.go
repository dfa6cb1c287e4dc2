package blte

import (
	"crypto/rc4"
	"encoding/binary"
	"fmt"

	"lorefs/internal/salsa20"
)

// The ciphers of an encrypted chunk.
const (
	CipherSalsa20 = 'S'
	CipherARC4    = 'A'
)

// Encryption says how a chunk is encrypted.
type Encryption struct {
	Name KeyName
	// IV has 4 or 8 bytes.
	IV     []byte
	Cipher byte
}

// parseEncryption reads the header of encrypted data, without the mode, and returns its
// size.
func parseEncryption(data []byte) (Encryption, int, error) {
	const nameSize = 8
	if len(data) < 2+nameSize {
		return Encryption{}, 0, badChunk("mode E: ends in its header")
	}
	if data[0] != nameSize {
		return Encryption{}, 0, badChunk("mode E: a key name of %d bytes, expected %d", data[0], nameSize)
	}
	e := Encryption{Name: KeyName(binary.LittleEndian.Uint64(data[1:]))}
	size := int(data[1+nameSize])
	if size != 4 && size != 8 {
		return Encryption{}, 0, badChunk("mode E: an IV of %d bytes, expected 4 or 8", size)
	}
	data = data[2+nameSize:]
	if len(data) < size+1 {
		return Encryption{}, 0, badChunk("mode E: ends in its header")
	}
	e.IV, e.Cipher = data[:size], data[size]
	return e, 2 + nameSize + size + 1, nil
}

func (e Encryption) appendHeader(b []byte) []byte {
	b = append(b, 8)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Name))
	b = append(b, byte(len(e.IV)))
	b = append(b, e.IV...)
	return append(b, e.Cipher)
}

// xor encrypts or decrypts chunk index from src to dst, which may be the same slice.
func (e Encryption) xor(dst, src []byte, key EncryptionKey, index int) error {
	switch e.Cipher {
	case CipherSalsa20:
		var nonce [8]byte
		copy(nonce[:], e.IV)
		first := binary.LittleEndian.Uint32(nonce[:])
		binary.LittleEndian.PutUint32(nonce[:], first^uint32(index))
		salsa20.XORKeyStream(dst, src, (*[16]byte)(&key), &nonce)
	case CipherARC4:
		c, err := rc4.NewCipher(key[:])
		if err != nil {
			return fmt.Errorf("ARC4: %w", err)
		}
		c.XORKeyStream(dst, src)
	default:
		return badChunk("mode E: unknown cipher %q", e.Cipher)
	}
	return nil
}

// decodeEncrypted decrypts and decodes a chunk. If the key is not known it checks only the
// header, and returns a *KeyError.
func (d decoder) decodeEncrypted(data []byte, index int, size int64) ([]byte, error) {
	e, n, err := parseEncryption(data)
	if err != nil {
		return nil, err
	}
	var key EncryptionKey
	known := false
	if d.keys != nil {
		key, known = d.keys.EncryptionKey(e.Name)
	}
	if !known {
		return nil, &KeyError{Name: e.Name}
	}
	plain := make([]byte, len(data)-n)
	if err := e.xor(plain, data[n:], key, index); err != nil {
		return nil, err
	}
	content, err := decoder{keys: d.keys, depth: d.depth + 1}.decode(plain, index, size)
	if err != nil {
		return nil, fmt.Errorf("decrypted with key %v: %w", e.Name, err)
	}
	return content, nil
}
