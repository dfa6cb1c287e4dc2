package casc_test

import (
	"bytes"
	"strconv"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
)

// TestRemoteEncryptedOnce reads an encrypted file from front to back, as an export does, which keeps
// nothing on the disk. Though all of it has to be proven before the first byte, it comes once.
func TestRemoteEncryptedOnce(t *testing.T) {
	testneeds.Seconds(t)
	for _, size := range []int{1 << 20, 12 << 20} { // fetched as a whole, and in parts
		t.Run(strconv.Itoa(size), func(t *testing.T) { encryptedOnce(t, bltetest.Noise(size, 1)) })
	}
}

func encryptedOnce(t *testing.T, content []byte) {
	g := newGame()
	secret := &blte.Encryption{Name: bltetest.KeyName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	var chunks []blte.Chunk
	for at := 0; at < len(content); at += 256 << 10 {
		chunks = append(chunks, blte.Chunk{Content: content[at:][:256<<10], Encrypt: secret, Key: bltetest.Key()})
	}
	s := g.AddChunks("b:{256K*=e:{1122334455667788,01020304,n}}", blte.WriteOptions{}, chunks...)
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "f", CKey: s.CKey}})))
	cdn, err := g.CDN(1)
	if err != nil {
		t.Fatal(err)
	}
	remote := &memoryRemote{cdn: cdn}
	o := g.options(t)
	o.Keys = bltetest.Keys()
	st := openRemote(t, remote, casc.RemoteOptions{Options: o, WholeFiles: true})
	before := remote.bytes
	c, err := st.OpenEncoded(t.Context(), s.EKey[:])
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(content))
	for at := 0; at < len(got); at += 1 << 20 {
		if _, err := c.ReadAtContext(t.Context(), got[at:][:1<<20], int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, content) {
		t.Error("other bytes")
	}
	if n := remote.bytes - before; n > int64(len(content)+len(content)/8) {
		t.Errorf("%d bytes came for %d", n, len(content))
	}
}
