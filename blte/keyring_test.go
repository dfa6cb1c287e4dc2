package blte_test

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"maps"
	"strings"
	"testing"

	"lorefs/blte"
)

func TestParseKeys(t *testing.T) {
	const name, key = "FA505078126ACB3E", "BDC51862ABED79B2DE48C8E7E66C6200"
	want := blte.KeyRing{0xFA505078126ACB3E: blte.EncryptionKey{
		0xBD, 0xC5, 0x18, 0x62, 0xAB, 0xED, 0x79, 0xB2, 0xDE, 0x48, 0xC8, 0xE7, 0xE6, 0x6C, 0x62, 0x00,
	}}
	for _, list := range []string{
		name + " " + key,
		strings.ToLower(name) + "\t" + strings.ToLower(key) + "  salsa20 some game\r\n",
		"\ufeff# a list\n\n// of keys\n" + name + " " + key + "\n",
		name + ";" + key,
		"Lookup;Key\n" + name + ";" + key + "\n",
		"ID,Lookup,Key\n15," + name + "," + key + ",x\n",
		`"` + name + `","` + key + `"`,
		"0x" + name + " 0x" + key,
		"[0x" + name + `] = "` + key + `",`,
		"Lookup\n" + name + " " + key + "\nnothing here\n" + name[:8] + " ????\n",
		"# KeyRing\nkey-3ecb6a12785050fa = bdc51862abed79b2de48c8e7e66c6200\n",
		name + " " + key + "\n" + name + " " + key,
	} {
		if got, err := blte.ParseKeys([]byte(list)); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
}

func TestParseKeysRefuses(t *testing.T) {
	const name, key = "FA505078126ACB3E", "BDC51862ABED79B2DE48C8E7E66C6200"
	for list, want := range map[string]string{
		name:                    "blte: key list: no line has a key: line 1: no key of 32 hex digits follows the name",
		name + " " + key[:31]:   "blte: key list: no line has a key: line 1: no key of 32 hex digits follows the name",
		name + " " + key + "00": "blte: key list: no line has a key: line 1: no key of 32 hex digits follows the name",
		"# ok\nname " + key:     "blte: key list: no line has a key: line 2: no key name of 16 hex digits",
		"Lookup;Key\n":          "blte: key list: no line has a key: line 1: no key name of 16 hex digits",
		"# nothing\n":           "blte: key list: it is empty",
		"\xff\xfeF\x00":         "blte: key list: the text is UTF-16: want UTF-8",
		name + " " + key + "\n" + name + " " + strings.Repeat("0", 32): "blte: key list, line 2: key FA505078126ACB3E was another before",
		strings.Repeat("x", 1<<17):                                     "blte: key list: bufio.Scanner: token too long",
	} {
		if _, err := blte.ParseKeys([]byte(list)); err == nil || err.Error() != want {
			t.Errorf("%.60q: %v, want %s", list, err, want)
		}
	}
}

func TestPublishedKeys(t *testing.T) {
	keys := blte.PublishedKeys()
	key, ok := keys.EncryptionKey(0xFB680CB6A8BF81F3)
	if len(keys) != 16 || !ok || hex.EncodeToString(key[:]) != "62d90efa7f36d71c398ae2f1fe37bdb9" {
		t.Errorf("%d keys, %x", len(keys), key)
	}
	clear(keys)
	if len(blte.PublishedKeys()) != 16 {
		t.Error("a caller changed the published keys")
	}
}

func TestRealKeyRings(t *testing.T) {
	for _, r := range []struct {
		file, sum string
		keys      int
	}{
		{"wow_keyring_config.txt", "3ca57fe7319a297346440e4d2a03a0cd", 1},
		{"overwatch_keyring_config.txt", "3dabb1bf65a3a797ccc6eff63c51b509", 63},
		{"odin_keyring_config.txt", "52c63cd064e423e177a9797e012c9efb", 1},
	} {
		list := fixture(t, "cascette-rs/config/"+r.file)
		sum := md5.Sum(list)
		if hex.EncodeToString(sum[:]) != r.sum {
			t.Errorf("%s: the fixture has the MD5 %x", r.file, sum)
		}
		keys, err := blte.ParseKeys(list)
		if err != nil || len(keys) != r.keys {
			t.Errorf("%s: %d keys, %v; want %d", r.file, len(keys), err, r.keys)
		}
		if _, ok := keys[0x7758B2CF1E4E3E1B]; ok != (r.keys == 63) {
			t.Errorf("%s: 7758B2CF1E4E3E1B: %v", r.file, ok)
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("FA505078126ACB3E BDC51862ABED79B2DE48C8E7E66C6200\nkey-3ecb6a12785050fa = bdc51862abed79b2de48c8e7e66c6200"))
	f.Add([]byte("a;b\n# c\n\n"))
	f.Fuzz(func(t *testing.T, list []byte) {
		keys, err := blte.ParseKeys(list)
		if err != nil {
			return
		}
		var again bytes.Buffer
		for name, key := range keys {
			again.WriteString(name.String() + " " + hex.EncodeToString(key[:]) + "\n")
		}
		if got, err := blte.ParseKeys(again.Bytes()); err != nil || !maps.Equal(got, keys) {
			t.Fatalf("written again: %v, %v", got, err)
		}
	})
}
