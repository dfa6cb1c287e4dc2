package casc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
)

// wrongKey looks for a key that decrypts an encrypted file to a plain chunk of other
// content, as one of 256 does.
func wrongKey(t *testing.T, file, content []byte) blte.KeyRing {
	t.Helper()
	for i := range uint32(1 << 14) {
		var key blte.EncryptionKey
		binary.LittleEndian.PutUint32(key[:], i)
		ring := blte.KeyRing{bltetest.KeyName: key}
		r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{Keys: ring})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(content))
		if n, err := r.ReadAt(got, 0); n == len(got) && err == nil && !bytes.Equal(got, content) {
			return ring
		}
	}
	t.Fatal("no key makes a plain chunk")
	return nil
}

// secretGame has a file of a plain and an encrypted chunk, whose ESpec is spec.
func secretGame(t *testing.T, spec string) (write.Files, write.Stored, []byte) {
	t.Helper()
	salsa := &blte.Encryption{Name: bltetest.KeyName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	open, secret := bltetest.Text(100), bltetest.Noise(200, 3)
	g := newGame()
	s := g.AddChunks(spec, blte.WriteOptions{}, blte.Chunk{Content: open}, blte.Chunk{Content: secret, Encrypt: salsa, Key: bltetest.Key()})
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "secret", CKey: s.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	return files, s, append(open, secret...)
}

// TestWrongKey has a key that decrypts to a plain chunk of other content. None of it may be
// returned, however the file is opened, and Verify reports it.
func TestWrongKey(t *testing.T) {
	for _, spec := range []string{"b:{100=n,*=e:{8877665544332211,01020304,n}}", "n"} {
		files, s, content := secretGame(t, spec)
		wrong := wrongKey(t, s.Encoded, content)
		st, err := casc.Open(casctest.FS(files), casc.Options{Keys: wrong, Blocks: &keeping{blocks: map[uint64][]byte{}}})
		if err != nil {
			t.Fatal(err)
		}
		short := s.EKey.Short()
		for what, open := range map[string]func() (*casc.Content, error){
			"name":         func() (*casc.Content, error) { return st.OpenName(t.Context(), "secret") },
			"content key":  func() (*casc.Content, error) { return st.OpenContent(t.Context(), s.CKey) },
			"encoding key": func() (*casc.Content, error) { return st.OpenEncoded(t.Context(), s.EKey[:]) },
			"short key":    func() (*casc.Content, error) { return st.OpenEncoded(t.Context(), short[:]) },
		} {
			c, err := open()
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(content))
			for range 2 {
				n, err := c.ReadAt(got, 0)
				_, ok := errors.AsType[*casc.FormatError](err)
				if !ok || n != 100 || !bytes.Equal(got[:n], content[:n]) || !strings.Contains(err.Error(), "a key that it is decrypted with is wrong") {
					t.Errorf("%s, by %s: %d bytes, %v", spec, what, n, err)
				}
			}
		}
		found := verify(t, files, casc.Options{Keys: wrong}, casc.VerifyOptions{})
		if len(found) != 2 || found[0].Kind != casc.FindingDamaged || !bytes.HasPrefix(s.EKey[:], found[0].EKey) || found[1].File != "secret" {
			t.Errorf("%s: %v", spec, found)
		}
		if found := verify(t, files, casc.Options{Keys: bltetest.Keys()}, casc.VerifyOptions{}); len(found) > 0 {
			t.Errorf("%s, with the right key: %v", spec, found)
		}
		right, err := casc.Open(casctest.FS(files), casc.Options{Keys: bltetest.Keys()})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			c, err := right.OpenEncoded(t.Context(), s.EKey[:])
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.ReadAll(t.Context(), 1<<20); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s, with the right key: %d bytes, %v", spec, len(got), err)
			}
		}
	}
}

// TestProvenOnce checks that an encrypted file is read through only once.
func TestProvenOnce(t *testing.T) {
	files, s, content := secretGame(t, "n")
	st, err := casc.Open(casctest.FS(files), casc.Options{Keys: bltetest.Keys(), Blocks: reading{}})
	if err != nil {
		t.Fatal(err)
	}
	name, at := find(files, s.Encoded)
	p := make([]byte, 10)
	for i := range 2 {
		c, err := st.OpenContent(t.Context(), s.CKey)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := c.ReadAt(p, 150); n != len(p) || err != nil || !bytes.Equal(p, content[150:160]) {
			t.Errorf("opened %d times: %d, %v", i+1, n, err)
		}
		// Damage a chunk that is not encrypted: only reading the whole file would notice.
		files[name][at+80] ^= 1
	}
}

// TestWrongContent has a file with good chunks and a wrong content key.
func TestWrongContent(t *testing.T) {
	g := newGame()
	s := g.Add([]byte("content"))
	g.Stored[0].CKey[3] ^= 1
	s.CKey[3] ^= 1
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "x", CKey: s.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	found := verify(t, files, casc.Options{}, casc.VerifyOptions{})
	want := "casc: content: offset 0x0: the MD5 is " + write.Key([]byte("content")).String() + ", expected " + s.CKey.String()
	if len(found) != 2 || found[0].What != want || found[0].Kind != casc.FindingDamaged || found[1].File != "x" {
		t.Errorf("%v", found)
	}
}
