package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"testing"
	"testing/iotest"
)

const testMark = 0x5eed1234

var testHeader = []byte(`{"source":"a file"}`)

// payload is the content of the n-th record: of different lengths, some of them
// short, and not the same anywhere.
func payload(n int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d,", n), 1+n*7%40)
}

// build makes a journal of n records, and tells where each ends.
func build(n int) (data []byte, ends []int) {
	data = appendHeader(nil, testMark, testHeader)
	ends = []int{len(data)}
	for i := range n {
		data = appendRecord(data, testMark, int64(len(data)), payload(i))
		ends = append(ends, len(data))
	}
	return data, ends
}

func parseBytes(data []byte) (*Contents, error) {
	return parse(bytes.NewReader(data), int64(len(data)))
}

// readAll gives all records and the error that ends them.
func readAll(c *Contents) (records [][]byte, err error) {
	for r, err := range c.Records() {
		if err != nil {
			return records, err
		}
		records = append(records, bytes.Clone(r))
	}
	return records, nil
}

// wantPayloads checks that the records are the first n.
func wantPayloads(t *testing.T, what string, got [][]byte, n int) {
	t.Helper()
	if len(got) != n {
		t.Errorf("%s: %d records, want %d", what, len(got), n)
	}
	for i, r := range got {
		if !bytes.Equal(r, payload(i)) {
			t.Fatalf("%s: record %d is %.20q", what, i, r)
		}
	}
}

// The layout is what doc.go draws, taken apart here by hand.
func TestLayout(t *testing.T) {
	data, _ := build(1)
	table := crc32.MakeTable(crc32.Castagnoli)
	u32 := binary.LittleEndian.Uint32
	n := len(testHeader)
	if string(data[:8]) != "lorefs-j" || u32(data[8:]) != 1 || u32(data[12:]) != testMark || int(u32(data[16:])) != n {
		t.Errorf("the header is %x", data[:24])
	}
	if want := crc32.Checksum(slices.Concat(data[:20], testHeader), table); u32(data[20:]) != want {
		t.Errorf("the header's checksum is %#x, want %#x", u32(data[20:]), want)
	}
	if !bytes.Equal(data[24:24+n], testHeader) {
		t.Errorf("the header is about %q", data[24:24+n])
	}
	r := data[24+n:]
	if u32(r) != testMark || int(u32(r[4:])) != len(payload(0)) || !bytes.Equal(r[12:], payload(0)) {
		t.Errorf("the record is %x", r)
	}
	off := binary.LittleEndian.AppendUint64(nil, uint64(24+n))
	if want := crc32.Checksum(slices.Concat(r[:8], off, payload(0)), table); u32(r[8:]) != want {
		t.Errorf("the record's checksum is %#x, want %#x", u32(r[8:]), want)
	}
	// A published value, so that the table is the right one: RFC 3720, B.4.
	if got := crc32.Checksum(make([]byte, 32), castagnoli); got != 0x8a9136aa {
		t.Errorf("the checksum of 32 zeros is %#x", got)
	}
}

// Cut off anywhere, a journal gives the whole records ahead of the cut, and can be
// appended to.
func TestTruncated(t *testing.T) {
	const n = 8
	data, ends := build(n)
	for size := range len(data) + 1 {
		what := fmt.Sprintf("%d bytes", size)
		c, err := parseBytes(data[:size])
		if size < ends[0] {
			if _, ok := errors.AsType[*FormatError](err); !ok {
				t.Errorf("%s: %v, %v", what, c, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		whole, exact := slices.BinarySearch(ends, size)
		if !exact {
			whole--
		}
		records, err := readAll(c)
		if err != nil || c.Len() != whole || c.Torn() != int64(size-ends[whole]) || !bytes.Equal(c.Header(), testHeader) {
			t.Errorf("%s: %d records, %d torn, %v; want %d, %d", what, c.Len(), c.Torn(), err, whole, size-ends[whole])
		}
		wantPayloads(t, what, records, whole)

		m := newMemory()
		m.put("j", slices.Clone(data[:size]))
		j, _, err := resume(m, "j")
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := errors.Join(j.Append(payload(whole)), j.Close()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		after, _ := m.now("j")
		if !bytes.Equal(after, data[:ends[min(whole+1, n)]]) && whole < n {
			t.Errorf("%s: the journal was not continued where it was whole", what)
		}
	}
}

// No damaged byte makes a record that nobody appended, nor is a record dropped
// unless it is the last.
func TestFlipped(t *testing.T) {
	const n = 6
	data, ends := build(n)
	for at := range data {
		for _, flip := range []byte{1, 0x80, 0xff, data[at]} {
			if flip == 0 {
				continue // This makes it 0 already.
			}
			what := fmt.Sprintf("byte %d ^ %#x", at, flip)
			broken := slices.Clone(data)
			broken[at] ^= flip
			c, err := parseBytes(broken)
			if at < ends[0] {
				if _, ok := errors.AsType[*FormatError](err); !ok {
					t.Errorf("%s: %v, %v", what, c, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			records, err := readAll(c)
			hit, exact := slices.BinarySearch(ends, at)
			if !exact {
				hit--
			}
			wantPayloads(t, what, records, hit)
			if hit == n-1 {
				if err != nil || c.Damage() != nil || c.Torn() != int64(ends[n]-ends[n-1]) {
					t.Errorf("%s: %d torn, %v", what, c.Torn(), err)
				}
				continue
			}
			bad, ok := errors.AsType[*FormatError](err)
			if !ok || !errors.Is(err, ErrDamaged) || !errors.Is(c.Damage(), ErrDamaged) || bad.Off != int64(ends[hit]) || c.Torn() != 0 {
				t.Errorf("%s: %v, %d torn", what, err, c.Torn())
			}
			m := newMemory()
			m.put("j", broken)
			if _, _, err := resume(m, "j"); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: resumed: %v", what, err)
			}
			if after, _ := m.now("j"); !bytes.Equal(after, broken) {
				t.Errorf("%s: a damaged journal was changed", what)
			}
		}
	}
}

// What a torn record holds is not taken for records, also if it is some.
func TestRecordsInRecord(t *testing.T) {
	data, ends := build(4)
	inner := bytes.Clone(data)
	data = appendRecord(data, testMark, int64(len(data)), append(inner, make([]byte, 100)...))
	c, err := parseBytes(data[:len(data)-1])
	if err != nil || c.Damage() != nil || c.Len() != 4 || c.Torn() != int64(len(data)-1-ends[4]) {
		t.Errorf("%+v, %v", c, err)
	}
}

// A tail of zeros is what some file systems leave after a power cut.
func TestZeroTail(t *testing.T) {
	data, _ := build(3)
	c, err := parseBytes(append(data, make([]byte, 3<<20)...))
	if err != nil || c.Damage() != nil || c.Len() != 3 || c.Torn() != 3<<20 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := parseBytes(make([]byte, 1000)); err == nil {
		t.Error("zeros were taken for a journal")
	}
	if _, err := parseBytes(appendHeader(nil, 0, nil)); err == nil {
		t.Error("a mark of 0 was taken")
	}
}

// A record is found also where two of the pieces meet in which it is searched.
func TestSearchPieces(t *testing.T) {
	for shift := -recordSize - 2; shift < 4; shift++ {
		data, ends := build(1)
		data = append(data, make([]byte, searchSize+1+shift)...)
		at := len(data)
		data = appendRecord(data, testMark, int64(at), []byte("x"))
		c, err := parseBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		if bad, ok := errors.AsType[*FormatError](c.Damage()); !ok || bad.Off != int64(ends[1]) {
			t.Errorf("the record at %d behind what is torn was not found: %v", at-ends[1], c.Damage())
		}
	}
}

// A file made to be slow to read is not, and is not taken for whole either.
func TestManySuspects(t *testing.T) {
	data, _ := build(1)
	head := binary.LittleEndian.AppendUint32(nil, testMark)
	head = binary.LittleEndian.AppendUint32(head, 4<<20)
	data = append(data, bytes.Repeat(append(head, 0, 0, 0, 0), 1<<20)...)
	r := &countingReader{ReaderAt: bytes.NewReader(data)}
	c, err := parse(r, int64(len(data)))
	if err != nil || !errors.Is(c.Damage(), ErrDamaged) {
		t.Errorf("%v, %v", c.Damage(), err)
	}
	if limit := int64(maxSearch + 2*MaxPayload); r.n > limit {
		t.Errorf("%d bytes were read, more than %d", r.n, limit)
	}
}

type countingReader struct {
	io.ReaderAt
	n int64
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	r.n += int64(len(p))
	return r.ReaderAt.ReadAt(p, off)
}

// A disk that cannot be read is not a torn tail, which would be cut off.
func TestReadErrors(t *testing.T) {
	data, _ := build(5)
	for off := range len(data) {
		if c, err := parse(brokenAt{data, int64(off)}, int64(len(data))); !errors.Is(err, iotest.ErrTimeout) {
			t.Errorf("broken at %d: %v, %v", off, c, err)
		}
		if c, err := parse(bytes.NewReader(data[:off]), int64(len(data))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("shrunk to %d: %v, %v", off, c, err)
		}
	}
}

// Records that change while they are read are not given.
func TestChangedUnderneath(t *testing.T) {
	data, _ := build(3)
	c, err := parseBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	records, err := readAll(c)
	if len(records) != 2 || !errors.Is(err, ErrDamaged) {
		t.Errorf("%d records, %v", len(records), err)
	}
	for _, err := range c.Records() { // stopping early is fine
		if err != nil {
			t.Error(err)
		}
		break
	}
}

func FuzzParse(f *testing.F) {
	whole, ends := build(5)
	f.Add([]byte{})
	f.Add(appendHeader(nil, 1, nil))
	f.Add(whole)
	f.Add(whole[:ends[3]+5])
	damaged := bytes.Clone(whole)
	damaged[ends[2]+20] ^= 4
	f.Add(damaged)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseBytes(data)
		if err != nil {
			if _, ok := errors.AsType[*FormatError](err); !ok {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		records, err := readAll(c)
		if len(records) != c.Len() || !errors.Is(err, c.Damage()) {
			t.Fatalf("%d records of %d, %v", len(records), c.Len(), err)
		}
		// Written again, the same bytes come out.
		again := appendHeader(nil, c.mark, c.Header())
		for _, r := range records {
			again = appendRecord(again, c.mark, int64(len(again)), r)
		}
		if !bytes.HasPrefix(data, again) || int64(len(again)) != c.end {
			t.Fatalf("%d bytes were read as %d others", c.end, len(again))
		}
		if err == nil && int64(len(again))+c.Torn() != int64(len(data)) {
			t.Fatalf("%d bytes and %d torn of %d", len(again), c.Torn(), len(data))
		}
	})
}
