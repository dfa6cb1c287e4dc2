package casc

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

// ParseKey reads 32 hex digits.
func ParseKey(text string) (Key, error) {
	var k Key
	if len(text) != hex.EncodedLen(len(k)) {
		return k, fmt.Errorf("casc: key %.40q: %d digits, a key has %d", text, len(text), hex.EncodedLen(len(k)))
	}
	if _, err := hex.Decode(k[:], []byte(text)); err != nil {
		return k, fmt.Errorf("casc: key %s: %w", shown.Quote(text), err)
	}
	return k, nil
}

// ShortKeySize is how many bytes of an encoding key the local index has.
const ShortKeySize = 9

// ShortKey is the beginning of an encoding key.
type ShortKey [ShortKeySize]byte

// Short returns the first bytes of k.
func (k Key) Short() ShortKey { return ShortKey(k[:ShortKeySize]) }

// keyOf returns the MD5 of data.
func keyOf(data []byte) Key { return md5.Sum(data) }
