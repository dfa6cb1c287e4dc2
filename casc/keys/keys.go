// Package keys has the keys by which CASC storages know files and configurations, and the only
// names that most of them have.
package keys

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"

	"lorefs/internal/shown"
)

// Key is an MD5: a content key is that of a file's content, an encoding key that of its
// encoded form.
type Key [md5.Size]byte

func (k Key) String() string { return hex.EncodeToString(k[:]) }

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k == Key{} }

// Compare orders keys as they stand in files.
func (k Key) Compare(other Key) int { return bytes.Compare(k[:], other[:]) }

// Parse reads 32 hex digits.
func Parse(text string) (Key, error) {
	var k Key
	if len(text) != hex.EncodedLen(len(k)) {
		return k, fmt.Errorf("casc: key %.40q: %d digits, a key has %d", text, len(text), hex.EncodedLen(len(k)))
	}
	if _, err := hex.Decode(k[:], []byte(text)); err != nil {
		return k, fmt.Errorf("casc: key %s: %w", shown.Quote(text), err)
	}
	return k, nil
}

// ShortSize is how many bytes of an encoding key the local index has.
const ShortSize = 9

// Short is the beginning of an encoding key.
type Short [ShortSize]byte

// Short returns the first bytes of k.
func (k Key) Short() Short { return Short(k[:ShortSize]) }

// Of returns the MD5 of data.
func Of(data []byte) Key { return md5.Sum(data) }
