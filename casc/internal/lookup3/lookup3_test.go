package lookup3

import "testing"

// TestPublished compares with the values in the comments of the function's author.
func TestPublished(t *testing.T) {
	const text = "Four score and seven years ago"
	for _, v := range []struct {
		text             string
		pc, pb, pc2, pb2 uint32
	}{
		{"", 0, 0, 0xdeadbeef, 0xdeadbeef},
		{"", 0, 0xdeadbeef, 0xbd5b7dde, 0xdeadbeef},
		{"", 0xdeadbeef, 0xdeadbeef, 0x9c093ccd, 0xbd5b7dde},
		{text, 0, 0, 0x17770551, 0xce7226e6},
		{text, 0, 1, 0xe3607cae, 0xbd371de4},
		{text, 1, 0, 0xcd628161, 0x6cbea4b3},
	} {
		if pc, pb := Hash2([]byte(v.text), v.pc, v.pb); pc != v.pc2 || pb != v.pb2 {
			t.Errorf("%q, %x, %x: %08x %08x, want %08x %08x", v.text, v.pc, v.pb, pc, pb, v.pc2, v.pb2)
		}
	}
	if h := Hash([]byte(text), 1); h != 0xcd628161 {
		t.Errorf("hashlittle: %08x", h)
	}
}
