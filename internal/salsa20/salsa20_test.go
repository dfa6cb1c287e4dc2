package salsa20

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// TestECRYPT compares with the vectors of eSTREAM for keys of 128 bits, set 1
// vector 0, at the start and across the first blocks.
func TestECRYPT(t *testing.T) {
	key := [16]byte{0x80}
	var nonce [8]byte
	stream := make([]byte, 512)
	XORKeyStream(stream, stream, &key, &nonce)
	for _, v := range []struct {
		off  int
		want string
	}{
		{0, "4DFA5E481DA23EA09A31022050859936DA52FCEE218005164F267CB65F5CFD7F2B4F97E0FF16924A52DF269515110A07F9E460BC65EF95DA58F740B7D1DBB0AA"},
		{192, "DA9C1581F429E0A00F7D67E23B730676783B262E8EB43A25F55FB90B3E753AEF8C6713EC66C51881111593CCB3E8CB8F8DE124080501EEEB389C4BCB6977CF95"},
		{448, "B375703739DACED4DD4059FD71C3C47FC2F9939670FAD4A46066ADCC6A5645783308B90FFB72BE04A6B147CBE38CC0C3B9267C296A92A7C69873F9F263BE9703"},
	} {
		want, err := hex.DecodeString(v.want)
		if err != nil {
			t.Fatal(err)
		}
		if got := stream[v.off : v.off+len(want)]; !bytes.Equal(got, want) {
			t.Errorf("at %d: %X, want %s", v.off, got, v.want)
		}
	}
}

func TestPartOfABlock(t *testing.T) {
	key, nonce := [16]byte{1, 2, 3}, [8]byte{9}
	src := bytes.Repeat([]byte("lorefs"), 30)
	whole := make([]byte, len(src))
	XORKeyStream(whole, src, &key, &nonce)
	for _, n := range []int{0, 1, 63, 64, 65, 128, 179} {
		part := make([]byte, n)
		XORKeyStream(part, src[:n], &key, &nonce)
		if !bytes.Equal(part, whole[:n]) {
			t.Errorf("the first %d bytes differ", n)
		}
	}
}

// TestAt decrypts parts from any place on.
func TestAt(t *testing.T) {
	key, nonce := [16]byte{1, 2, 3}, [8]byte{4, 5}
	whole := make([]byte, 1000)
	XORKeyStream(whole, whole, &key, &nonce)
	for off := range 200 {
		part := make([]byte, 300)
		XORKeyStreamAt(part, part, int64(off), &key, &nonce)
		if !bytes.Equal(part, whole[off:off+300]) {
			t.Fatalf("another key stream from %d on", off)
		}
	}
}
