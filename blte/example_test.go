package blte_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"

	"lorefs/blte"
)

// A file of two chunks is written and read. The second one is encrypted.
func Example() {
	const name = blte.KeyName(0x1122334455667788)
	key := blte.EncryptionKey{1, 2, 3}
	file, err := blte.Append(nil, []blte.Chunk{
		{Content: []byte("Once upon a time "), Mode: blte.ModeZlib},
		{Content: []byte("in Aldermoor."), Key: key, Encrypt: &blte.Encryption{Name: name, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}},
	}, blte.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, keys := range []blte.KeyRing{{name: key}, {}} {
		r, err := blte.NewReader(context.Background(), bytes.NewReader(file), int64(len(file)), blte.Options{Keys: keys})
		if err != nil {
			log.Fatal(err)
		}
		text, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
		fmt.Printf("%q of %d bytes, no key: %v\n", text, r.Size(), errors.Is(err, blte.ErrNoKey))
	}
	// Output:
	// "Once upon a time in Aldermoor." of 30 bytes, no key: false
	// "Once upon a time " of 30 bytes, no key: true
}
