package cursor

import (
	"testing"
)

func TestReads(t *testing.T) {
	c := New([]byte{1, 2, 3, 4, 5, 6, 7, 'a', 'b', 0, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18})
	for i, v := range []struct{ got, want uint64 }{
		{uint64(c.U8()), 1}, {uint64(c.BE16()), 0x203}, {uint64(c.BE32()), 0x4050607},
	} {
		if v.got != v.want {
			t.Errorf("%d: %#x, want %#x", i, v.got, v.want)
		}
	}
	if s := c.String(); s != "ab" || c.Off() != 10 {
		t.Errorf("%q, then at %d", s, c.Off())
	}
	for i, v := range []struct{ got, want uint64 }{
		{uint64(c.LE16()), 0x908}, {uint64(c.LE32()), 0xd0c0b0a}, {c.Big(5), 0xe0f101112},
	} {
		if v.got != v.want {
			t.Errorf("%d: %#x, want %#x", i, v.got, v.want)
		}
	}
	if c.Err() != nil || c.Left() != 0 {
		t.Errorf("%v, %d left", c.Err(), c.Left())
	}
}

func TestTheFirstErrorStays(t *testing.T) {
	c := New([]byte{1, 2, 3})
	if c.BE32() != 0 || c.U8() != 0 || c.String() != "" || c.LE16() != 0 || c.LE32() != 0 {
		t.Error("something was read behind the end")
	}
	if got, want := c.Err().Error(), "offset 0x0: 4 bytes expected, 3 there"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	c = New([]byte("abc"))
	if s := c.String(); s != "" || c.Err().Error() != "offset 0x0: a string without end" {
		t.Errorf("%q, %v", s, c.Err())
	}
	if New(nil).Bytes(-1) != nil {
		t.Error("a negative number of bytes was read")
	}
}
