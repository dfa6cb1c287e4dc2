package casckind

import (
	"bytes"
	"crypto/md5"
	"os"

	"lorefs/cmd/internal/kinds"
	"lorefs/internal/remote"
	"lorefs/internal/salsa20"
)

// ReadProductKey reads a file NAME.ak, which has the key of a product and, mostly, the first
// bytes of the key's MD5.
func ReadProductKey(path string) (key [16]byte, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return key, kinds.Unreadable(path, err)
	}
	const digest = 4
	if len(data) != len(key) && len(data) != len(key)+digest {
		return key, kinds.Errorf("%s: %d bytes: want a key of %d, with or without the first %d of its MD5", path, len(data), len(key), digest)
	}
	key = [16]byte(data)
	if sum := md5.Sum(key[:]); !bytes.HasPrefix(sum[:], data[len(key):]) {
		return key, kinds.Errorf("%s: the file is damaged: the MD5 of its key begins with %x, not with %x", path, sum[:digest], data[len(key):])
	}
	return key, nil
}

// decrypter returns what decrypts the objects of a product. Each is one stream, whose nonce is
// the second half of the object's name, so that parts of it can be decrypted.
func decrypter(key [16]byte) func(name remote.Key, off int64, data []byte) {
	return func(name remote.Key, off int64, data []byte) {
		salsa20.XORKeyStreamAt(data, data, off, &key, (*[8]byte)(name[8:]))
	}
}
