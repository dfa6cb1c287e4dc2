package save

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// Identity identifies the content of a file.
type Identity struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// summer is a writer that computes the identity of what it writes.
type summer struct {
	to   io.Writer
	hash hash.Hash
	n    int64
}

// newSummer returns a summer that writes to w.
func newSummer(w io.Writer) *summer { return &summer{to: w, hash: sha256.New()} }

// Write implements [io.Writer].
func (s *summer) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.hash.Write(p[:n])
	s.n += int64(n)
	return n, err
}

// identity returns the identity of what was written so far.
func (s *summer) identity() Identity {
	return Identity{Size: s.n, SHA256: hex.EncodeToString(s.hash.Sum(nil))}
}
