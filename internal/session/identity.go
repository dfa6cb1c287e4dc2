package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// identity says which content a file has.
type identity struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// identify reads all of a file: some 30 ms for a large one.
func identify(r io.ReaderAt, size int64) (identity, error) {
	h := sha256.New()
	if n, err := io.Copy(h, io.NewSectionReader(r, 0, size)); err != nil || n < size {
		return identity{}, fmt.Errorf("read %d bytes of %d: %w", n, size, err)
	}
	return identity{Size: size, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// header is what a journal begins with.
type header struct {
	// Source is the path of the file, without links.
	Source string `json:"source"`
	identity
	// Began is when the first edit was made.
	Began time.Time `json:"began"`
}

func parseHeader(b []byte) (h header, err error) {
	if err := json.Unmarshal(b, &h); err != nil {
		return h, fmt.Errorf("not the journal of a data center: %w", err)
	}
	return h, nil
}

// Kinds of records: their first byte.
const (
	recordEdits  = 'E'
	recordSaving = 'S'
)
