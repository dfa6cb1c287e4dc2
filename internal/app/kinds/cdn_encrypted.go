package kinds

import (
	"lorefs/internal/remote"
	"lorefs/internal/salsa20"
)

// decrypter returns what decrypts the objects of a product. Each is one stream, whose nonce is
// the second half of the object's name, so that parts of it can be decrypted.
func decrypter(key [16]byte) func(name remote.Key, off int64, data []byte) {
	return func(name remote.Key, off int64, data []byte) {
		salsa20.XORKeyStreamAt(data, data, off, &key, (*[8]byte)(name[8:]))
	}
}
