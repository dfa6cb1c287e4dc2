package blte

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// KeyName names an encryption key: the eight bytes of the file, read as a little-endian
// number. Key lists print it in hex.
type KeyName uint64

func (n KeyName) String() string { return fmt.Sprintf("%016X", uint64(n)) }

// EncryptionKey is a key of 16 bytes.
type EncryptionKey [16]byte

// Keys finds encryption keys. It must be safe for parallel use.
type Keys interface {
	// EncryptionKey returns the key called name, or false.
	EncryptionKey(name KeyName) (EncryptionKey, bool)
}

// KeyRing is a set of keys. It must not be changed while readers use it. The nil
// KeyRing is empty.
type KeyRing map[KeyName]EncryptionKey

// EncryptionKey implements Keys.
func (k KeyRing) EncryptionKey(name KeyName) (EncryptionKey, bool) {
	key, ok := k[name]
	return key, ok
}

// PublishedKeys returns a new ring of the keys that the format's description publishes.
func PublishedKeys() KeyRing {
	ring := make(KeyRing, len(published))
	for name, key := range published {
		ring[name] = key.bytes()
	}
	return ring
}

// key128 is a key as two big-endian numbers.
type key128 [2]uint64

func (k key128) bytes() (key EncryptionKey) {
	binary.BigEndian.PutUint64(key[:], k[0])
	binary.BigEndian.PutUint64(key[8:], k[1])
	return key
}

var published = map[KeyName]key128{
	0xFB680CB6A8BF81F3: {0x62D90EFA7F36D71C, 0x398AE2F1FE37BDB9},
	0x402CD9D8D6BFED98: {0xAEB0EADEA47612FE, 0x6C041A03958DF241},
	0xDBD3371554F60306: {0x34E397ACE6DD30EE, 0xFDC98A2AB093CD3C},
	0x11A9203C9881710A: {0x2E2CB8C397C2F24E, 0xD0B5E452F18DC267},
	0xA19C4F859F6EFA54: {0x0196CB6F5ECBAD7C, 0xB5283891B9712B4B},
	0x87AEBBC9C4E6B601: {0x685E86C6063DFDA6, 0xC9E85298076B3D42},
	0xDEE3A0521EFF6F03: {0xAD740CE3FFFF9231, 0x468126985708E1B9},
	0x8C9106108AA84F07: {0x53D859DDA2635A38, 0xDC32E72B11B32F29},
	0x49166D358A34D815: {0x667868CD94EA0135, 0xB9B16C93B1124ABA},
	0x1463A87356778D14: {0x69BD2A78D05C503E, 0x93994959B30E5AEC},
	0x5E152DE44DFBEE01: {0xE45A1793B37EE31A, 0x8EB85CEE0EEE1B68},
	0x9B1F39EE592CA415: {0x54A99F081CAD0D08, 0xF7E336F4368E894C},
	0x3ECB6A12785050FA: {0xBDC51862ABED79B2, 0xDE48C8E7E66C6200},
	0xD1E9B5EDF9283668: {0x8E4A2579894E38B4, 0xAB9058BA5C7328EE},
	0xB76729641141CB34: {0x9849D1AA7B1FD098, 0x19C5C66283A326EC},
	0x23C5B5DF837A226C: {0x1406E2D873B6FC99, 0x217A180881DA8D62},
}

// maxKeyLine bounds a line of a key list, in bytes.
const maxKeyLine = 1 << 16

// Parse adds the keys of a list. Each line may be
//
//	NAME KEY [anything]
//	[anything,]NAME,KEY[,anything]     or with semicolons
//	[0xNAME] = "KEY"
//	key-NAME = KEY                     a key ring configuration
//
// in hex, with or without 0x. Names are written as lists print them, but in the last form their
// bytes stand as in files. Empty lines, lines that begin with # or //, and a first line of column
// titles are skipped. bad is called for each other line without a key. A list without any key is an
// error, and so is a name with two keys.
func (k KeyRing) Parse(r io.Reader, bad func(line int, err error)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxKeyLine)
	seen := KeyRing{}
	var first error
	for n := 1; lines.Scan(); n++ {
		if n == 1 && isUTF16(lines.Bytes()) {
			return errors.New("blte: key list: the text is UTF-16: want UTF-8")
		}
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "//") {
			continue
		}
		name, key, err := parseKeyLine(line)
		if err != nil {
			if first == nil {
				first = fmt.Errorf("line %d: %w", n, err)
			}
			if n > 1 || !errors.Is(err, errNoName) {
				bad(n, err)
			}
			continue
		}
		if old, ok := seen[name]; ok && old != key {
			return fmt.Errorf("blte: key list, line %d: key %v was another before", n, name)
		}
		seen[name] = key
		k[name] = key
	}
	switch err := lines.Err(); {
	case err != nil:
		return fmt.Errorf("blte: key list: %w", err)
	case len(seen) > 0:
		return nil
	case first != nil:
		return fmt.Errorf("blte: key list: no line has a key: %w", first)
	}
	return errors.New("blte: key list: it is empty")
}

// isUTF16 reports whether a text begins with the byte order mark of UTF-16.
func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF})
}

var (
	errNoName = errors.New("no key name of 16 hex digits")
	errNoHex  = errors.New("no key of 32 hex digits follows the name")
)

func parseKeyLine(line string) (KeyName, EncryptionKey, error) {
	fields := strings.FieldsFunc(line, func(r rune) bool {
		return strings.ContainsRune(" \t,;=\"[]", r)
	})
	for i, f := range fields {
		hexName, ring := strings.CutPrefix(strings.TrimPrefix(f, "0x"), "key-")
		name, ok := parseKeyName(hexName, ring)
		if !ok {
			continue
		}
		if i+1 == len(fields) {
			return name, EncryptionKey{}, errNoHex
		}
		raw, err := hex.DecodeString(strings.TrimPrefix(fields[i+1], "0x"))
		if err != nil || len(raw) != len(EncryptionKey{}) {
			return name, EncryptionKey{}, errNoHex
		}
		return name, EncryptionKey(raw), nil
	}
	return 0, EncryptionKey{}, errNoName
}

// parseKeyName reads 16 hex digits. Key rings have their bytes reversed.
func parseKeyName(s string, ring bool) (KeyName, bool) {
	if len(s) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0, false
	}
	if ring {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], n)
		n = binary.LittleEndian.Uint64(b[:])
	}
	return KeyName(n), true
}

// ParseKeys reads a list of keys as KeyRing.Parse does. It reports no bad lines.
func ParseKeys(list []byte) (KeyRing, error) {
	k := KeyRing{}
	if err := k.Parse(bytes.NewReader(list), func(int, error) {}); err != nil {
		return nil, err
	}
	return k, nil
}
