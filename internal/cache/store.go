package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// Store keeps data between runs. Callers check what it returns, and do without it
// when it fails.
type Store interface {
	// Load returns what was saved under key, or an error that matches
	// io/fs.ErrNotExist. The data may be used where it is, so it must not be changed any more.
	Load(key string) ([]byte, error)
	// Save may keep data and write it later, so data must not be changed any more.
	Save(key string, data []byte) error
}

// sumSize is the length of the checksum behind the body.
const sumSize = crc32.Size

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ID identifies cached data.
type ID struct {
	// Kind names the form of the body, such as "data center index 2", in at most 255 bytes.
	// It must change whenever the meaning of a body changes.
	Kind string
	// Of is a hash of everything that the body was made from.
	Of [sha256.Size]byte
}

// key returns the key in a store: letters and digits.
func (id ID) key() string {
	sum := sha256.Sum256(id.appendHead(nil))
	return hex.EncodeToString(sum[:])
}

func (id ID) headSize() int { return 1 + len(id.Kind) + len(id.Of) }

func (id ID) appendHead(b []byte) []byte {
	b = append(b, byte(len(id.Kind)))
	b = append(b, id.Kind...)
	return append(b, id.Of[:]...)
}

// Begin returns the head of a frame with capacity for a body of size bytes. The caller
// appends the body, and then calls Seal.
func (id ID) Begin(size int) []byte {
	return id.appendHead(make([]byte, 0, id.headSize()+size+sumSize))
}

// Seal completes a frame.
func Seal(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// Body returns the body of a sealed frame, which is part of data. It returns an error if
// data is damaged or has another ID.
func (id ID) Body(data []byte) ([]byte, error) {
	n := len(data) - sumSize
	if n < id.headSize() || crc32.Checksum(data[:n], castagnoli) != binary.LittleEndian.Uint32(data[n:]) {
		return nil, errors.New("wrong checksum")
	}
	if !slices.Equal(data[:id.headSize()], id.appendHead(nil)) {
		return nil, fmt.Errorf("not the %s of this source", id.Kind)
	}
	return data[id.headSize():n:n], nil
}

// Load returns the body that s keeps. If there is none the error matches io/fs.ErrNotExist.
func (id ID) Load(s Store) ([]byte, error) {
	data, err := s.Load(id.key())
	if err != nil {
		return nil, err
	}
	return id.Body(data)
}

// Save saves a sealed frame in s.
func (id ID) Save(s Store, sealed []byte) error { return s.Save(id.key(), sealed) }
