package casckind

import (
	"crypto/md5"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/internal/remote"
	"lorefs/internal/testneeds"
)

// TestProductKeyOfOthers decrypts a real configuration with a real key.
func TestProductKeyOfOthers(t *testing.T) {
	key, err := ReadProductKey(testneeds.Fixture(t, "casc/armadillo/sc1Dev.ak"))
	if err != nil {
		t.Fatal(err)
	}
	const name = "e32f46c7245bfc154e43924555a5cf9f"
	data, err := os.ReadFile(testneeds.Fixture(t, "casc/armadillo/"+name))
	if err != nil {
		t.Fatal(err)
	}
	object, err := hex.DecodeString(name)
	if err != nil {
		t.Fatal(err)
	}
	decrypter(key)(remote.Key(object), 0, data)
	if sum := md5.Sum(data); hex.EncodeToString(sum[:]) != name {
		t.Errorf("the MD5 is %x: %.80q", sum, data)
	}
}

func TestReadProductKey(t *testing.T) {
	key := [16]byte([]byte("0123456789abcdef"))
	sum := md5.Sum(key[:])
	for text, want := range map[string]string{
		string(key[:]):                   "",
		string(key[:]) + string(sum[:4]): "",
		string(key[:]) + "abcd":          "the MD5 of its key begins with 4032af8d, not with 61626364",
		string(key[:]) + "abc":           "19 bytes: want a key of 16, with or without the first 4 of its MD5",
		"short":                          "5 bytes: want a key of 16",
	} {
		path := filepath.Join(t.TempDir(), "some.ak")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadProductKey(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && got != key {
			t.Errorf("%q: %x, %v; want %s", text, got, err, want)
		}
	}
}
