package save

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// Identity says which content a file has.
type Identity struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// summer writes, and sums up what it writes.
type summer struct {
	to   io.Writer
	hash hash.Hash
	n    int64
}

// newSummer makes one that writes to w.
func newSummer(w io.Writer) *summer { return &summer{to: w, hash: sha256.New()} }

// Write is [io.Writer]'s.
func (s *summer) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.hash.Write(p[:n])
	s.n += int64(n)
	return n, err
}

// identity is that of what was written so far.
func (s *summer) identity() Identity {
	return Identity{Size: s.n, SHA256: hex.EncodeToString(s.hash.Sum(nil))}
}
