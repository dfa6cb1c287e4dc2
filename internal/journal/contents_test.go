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

	"lorefs/internal/testneeds"
)

const testMark = 0x5eed1234

var testHeader = []byte(`{"source":"a file"}`)

// payload returns the content of the n-th record: of different lengths, some of them short,
// and never the same.
func payload(n int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d,", n), 1+n*7%40)
}

// build makes a journal of n records, and syncs it after each of the first ones. It returns the
// offset of the end of each record.
func build(n, synced int) (data []byte, ends []int) {
	data = appendHead(nil, testMark, testHeader)
	ends = []int{len(data)}
	for i := range n {
		data = appendRecord(data, testMark, int64(len(data)), payload(i))
		ends = append(ends, len(data))
	}
	for i := 1; i <= synced; i++ {
		copy(data[slotAt(ends[0], (i+1)%slotCount):], appendSlot(nil, testMark, int64(ends[i])))
	}
	return data, ends
}

// slotAt returns the offset of a slot in a journal whose records begin at first.
func slotAt(first, slot int) int { return first - (slotCount-slot)*slotBlock }

func parseBytes(data []byte) (*Contents, error) {
	return parse(bytes.NewReader(data), func() (int64, error) { return int64(len(data)), nil })
}

// readAll returns all records and the error that ends them.
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

// TestLayout takes the layout in doc.go apart by hand.
func TestLayout(t *testing.T) {
	data, _ := build(1, 1)
	table := crc32.MakeTable(crc32.Castagnoli)
	u32, u64 := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	n := len(testHeader)
	if string(data[:8]) != "lorefs-j" || u32(data[8:]) != 2 || u32(data[12:]) != testMark || int(u32(data[16:])) != n || u32(data[20:]) != 0 {
		t.Errorf("the header is %x", data[:28])
	}
	if want := crc32.Checksum(slices.Concat(data[:24], testHeader), table); u32(data[24:]) != want {
		t.Errorf("the header's checksum is %#x, want %#x", u32(data[24:]), want)
	}
	if !bytes.Equal(data[28:28+n], testHeader) {
		t.Errorf("the header is about %q", data[28:28+n])
	}
	for i, promise := range []uint64{uint64(len(data)), 3 * 4096} {
		slot := data[(1+i)*4096:]
		if want := crc32.Checksum(slices.Concat(data[12:16], slot[:8]), table); u64(slot) != promise || u32(slot[8:]) != want {
			t.Errorf("slot %d is %x, want the promise %#x and the checksum %#x", i, slot[:12], promise, want)
		}
	}
	for _, zeros := range [][]byte{data[28+n : 4096], data[4096+12 : 2*4096], data[2*4096+12 : 3*4096]} {
		if !bytes.Equal(zeros, make([]byte, len(zeros))) {
			t.Errorf("not zeros: %x", zeros)
		}
	}
	r := data[3*4096:]
	if u32(r) != testMark || int(u32(r[4:])) != len(payload(0)) || !bytes.Equal(r[12:], payload(0)) {
		t.Errorf("the record is %x", r)
	}
	off := binary.LittleEndian.AppendUint64(nil, 3*4096)
	if want := crc32.Checksum(slices.Concat(r[:8], off, payload(0)), table); u32(r[8:]) != want {
		t.Errorf("the record's checksum is %#x, want %#x", u32(r[8:]), want)
	}
	// A published value shows that the table is right: RFC 3720, B.4.
	if got := crc32.Checksum(make([]byte, 32), castagnoli); got != 0x8a9136aa {
		t.Errorf("the checksum of 32 zeros is %#x", got)
	}
	// A header that fills its block shares it with no slot.
	for about, want := range map[int]int{4096 - 28: 3 * 4096, 4096 - 27: 4 * 4096} {
		if got := len(appendHead(nil, 1, make([]byte, about))); got != want {
			t.Errorf("with %d bytes of header, the records begin at %d, want %d", about, got, want)
		}
	}
}

// TestTruncated cuts a journal off everywhere. The whole records before the cut are there,
// and it can be appended to.
func TestTruncated(t *testing.T) {
	const n = 8
	data, ends := build(n, 0)
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
		torn := int64(size - ends[whole])
		if err != nil || c.Damage() != nil || c.Len() != whole || c.Unreadable() != torn || c.Resumable() != (torn == 0) ||
			!bytes.Equal(c.Header(), testHeader) {
			t.Errorf("%s: %d records, %d unreadable, %v, %v; want %d, %d",
				what, c.Len(), c.Unreadable(), err, c.Damage(), whole, size-ends[whole])
		}
		wantPayloads(t, what, records, whole)
		appendAnew(t, what, data[:size], whole)
	}
}

// appendAnew resumes a journal that begins with n whole records, and appends to it.
func appendAnew(t *testing.T, what string, data []byte, n int) {
	t.Helper()
	m := newPlace(t)
	m.put(slices.Clone(data))
	if c, err := parseBytes(data); err != nil || !c.Resumable() {
		if _, _, err := Resume(m.Disk, m.path); err == nil {
			t.Errorf("%s: resumed as it is", what)
		}
		if now, _ := m.now(); !bytes.Equal(now, data) {
			t.Errorf("%s: a journal that was refused is changed", what)
		}
		if err := Renew(m.Disk, m.path); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	j, c, err := Resume(m.Disk, m.path)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := errors.Join(j.Append(payload(n)), j.Close()); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !bytes.Equal(c.Header(), testHeader) || j.Records() != n+1 {
		t.Errorf("%s: %d records, header %q", what, j.Records(), c.Header())
	}
	after, there := m.afterCut()
	checkAfterCut(t, what+", continued", after, there, progress{created: true, tried: n + 1, acked: n + 1, synced: n + 1})
	if len(m.files()) != 1 {
		t.Errorf("%s: %d files", what, len(m.files()))
	}
}

// TestFlipped damages every byte. No damage may make a record, or silently drop one that was synced
// or that others follow.
func TestFlipped(t *testing.T) {
	testneeds.Seconds(t)
	const n = 6
	for _, synced := range []int{0, 3, n - 1, n} {
		data, ends := build(n, synced)
		for at := range data {
			if at < ends[0] && at%slotBlock > 2*headerSize && at%100 > 0 {
				continue // mostly zeros that nobody reads
			}
			for _, flip := range []byte{1, 0x80, 0xff, data[at]} {
				if flip != 0 { // else nothing changes
					broken := slices.Clone(data)
					broken[at] ^= flip
					testFlipped(t, fmt.Sprintf("%d synced, byte %d ^ %#x", synced, at, flip), broken, ends, synced, at)
				}
			}
		}
	}
}

func testFlipped(t *testing.T, what string, broken []byte, ends []int, synced, at int) {
	t.Helper()
	n := len(ends) - 1
	c, err := parseBytes(broken)
	if at < headerSize+len(testHeader) {
		_, format := errors.AsType[*FormatError](err)
		_, unsupported := errors.AsType[*UnsupportedError](err)
		if !format && !unsupported {
			t.Errorf("%s: %v, %v", what, c, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	records, err := readAll(c)
	if at < ends[0] { // a slot, or zeros that nobody reads
		wantPayloads(t, what, records, n)
		if err != nil || !c.Resumable() || c.Unreadable() != 0 {
			t.Errorf("%s: %v, %d unreadable", what, err, c.Unreadable())
		}
		return
	}
	hit, exact := slices.BinarySearch(ends, at)
	if !exact {
		hit--
	}
	wantPayloads(t, what, records, hit)
	if c.Unreadable() != int64(ends[n]-ends[hit]) || c.Resumable() {
		t.Errorf("%s: %d unreadable", what, c.Unreadable())
	}
	if hit == n-1 && synced < n {
		if err != nil || c.Damage() != nil {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	bad, ok := errors.AsType[*FormatError](err)
	if !ok || !errors.Is(err, ErrDamaged) || !errors.Is(c.Damage(), ErrDamaged) || bad.Off != int64(ends[hit]) {
		t.Errorf("%s: %v", what, err)
	}
	m := newPlace(t)
	m.put(broken)
	if _, _, err := Resume(m.Disk, m.path); !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: resumed: %v", what, err)
	}
	if after, _ := m.now(); !bytes.Equal(after, broken) {
		t.Errorf("%s: a damaged journal was changed", what)
	}
}

// TestSyncedIsNeverTorn damages one place, by a cut or by zeros. No synced record is lost
// silently.
func TestSyncedIsNeverTorn(t *testing.T) {
	testneeds.Seconds(t)
	const n, step = 6, 127
	for synced := range n + 1 {
		data, ends := build(n, synced)
		firstRecord := ends[0]
		check := func(what string, broken []byte) {
			t.Helper()
			c, err := parseBytes(broken)
			if err != nil {
				return // the damage is reported
			}
			records, _ := readAll(c)
			wantPayloads(t, what, records, c.Len())
			if c.Damage() == nil && c.Len() < synced {
				t.Errorf("%s: %d records, but %d were synced", what, c.Len(), synced)
			}
			if c.Damage() != nil && !errors.Is(c.Damage(), ErrDamaged) {
				t.Errorf("%s: %v", what, c.Damage())
			}
		}
		for size := 0; size < len(data); size += 1 + step*(1-min(size/firstRecord, 1)) {
			check(fmt.Sprintf("%d synced, cut to %d", synced, size), data[:size])
		}
		for from := 0; from < len(data); from += step {
			for to := from + 1; to <= len(data)+step; to += step {
				end := min(to, len(data))
				broken := slices.Clone(data)
				clear(broken[from:end])
				check(fmt.Sprintf("%d synced, zeros from %d to %d", synced, from, end), broken)
			}
		}
	}
}

// TestSlots checks that a slot that is not whole keeps no promise, but may have promised anything.
func TestSlots(t *testing.T) {
	const n, synced = 4, 3
	for broken, cases := range map[string]map[int]bool{ // how much is cut off, and whether that is damage
		"":   {0: false, 1: false, len(payload(n-1)) + recordSize: false, len(payload(n-1)) + recordSize + 1: true},
		"0":  {0: false, 1: true},
		"1":  {0: false, 1: true},
		"01": {0: true, 1: true},
	} {
		for cut, damaged := range cases {
			data, ends := build(n, synced)
			for _, slot := range broken {
				data[slotAt(ends[0], int(slot-'0'))+3] ^= 1
			}
			data = data[:len(data)-cut]
			c, err := parseBytes(data)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Damage() != nil; got != damaged {
				t.Errorf("slots %q broken, %d bytes cut off: %v", broken, cut, c.Damage())
			}
			appendAnew(t, fmt.Sprintf("slots %q broken, %d bytes cut off", broken, cut), data, c.Len())
		}
	}
	// Resuming mends a damaged slot.
	data, ends := build(n, synced)
	clear(data[slotAt(ends[0], 0) : slotAt(ends[0], 0)+slotSize])
	m := newPlace(t)
	m.put(data)
	j, _, err := Resume(m.Disk, m.path)
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	after, _ := m.afterCut()
	if c, err := parseBytes(after); err != nil || !c.promises.whole() || c.promises.last() != int64(len(data)) {
		t.Errorf("%v, %+v", err, c)
	}
}

// buildPlain makes a journal of n records of version 1, as documented.
func buildPlain(n int) []byte {
	le, table := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	mark := []byte{0x34, 0x12, 0xed, 0x5e}
	data := slices.Concat([]byte("lorefs-j\x01\x00\x00\x00"), mark, le.AppendUint32(nil, uint32(len(testHeader))))
	data = le.AppendUint32(data, crc32.Checksum(slices.Concat(data, testHeader), table))
	data = append(data, testHeader...)
	for i := range n {
		length := le.AppendUint32(nil, uint32(len(payload(i))))
		sum := crc32.Checksum(slices.Concat(mark, length, le.AppendUint64(nil, uint64(len(data))), payload(i)), table)
		data = slices.Concat(data, mark, length, le.AppendUint32(nil, sum), payload(i))
	}
	return data
}

// TestPlainVersion reads a journal of version 1, and renews it.
func TestPlainVersion(t *testing.T) {
	for n := range 6 {
		data := buildPlain(n)
		c, err := parseBytes(data)
		if err != nil || c.Damage() != nil || c.Unreadable() != 0 || c.Resumable() || !bytes.Equal(c.Header(), testHeader) {
			t.Fatalf("%d records: %v, %+v", n, err, c)
		}
		records, err := readAll(c)
		if err != nil {
			t.Error(err)
		}
		wantPayloads(t, "version 1", records, n)
		appendAnew(t, fmt.Sprintf("version 1, %d records", n), data, n)
	}
	data := buildPlain(3)
	c, err := parseBytes(data[:len(data)-1])
	if err != nil || c.Damage() != nil || c.Len() != 2 || c.Unreadable() != int64(recordSize+len(payload(2))-1) {
		t.Errorf("torn: %v, %+v", err, c)
	}
	data[plainHeaderSize+len(testHeader)+recordSize] ^= 1
	if c, err := parseBytes(data); err != nil || !errors.Is(c.Damage(), ErrDamaged) || c.Len() != 0 {
		t.Errorf("damaged: %v, %+v", err, c)
	}
	for size := range plainHeaderSize + len(testHeader) {
		if c, err := parseBytes(data[:size]); err == nil {
			t.Errorf("cut to %d: %+v", size, c)
		}
	}
}

// TestUnsupported checks that a journal of a later version is not reported as damaged.
func TestUnsupported(t *testing.T) {
	for off, value := range map[int]byte{versionOff: 3, featuresOff: 1, featuresOff + 3: 0x80} {
		data, _ := build(2, 1)
		data[off] = value
		crc := crc32.Checksum(slices.Concat(data[:headerSize-crcSize], testHeader), castagnoli)
		binary.LittleEndian.PutUint32(data[headerSize-crcSize:], crc)
		if c, err := parseBytes(data); err == nil {
			t.Errorf("%#x at %d: %+v", value, off, c)
		} else if _, ok := errors.AsType[*UnsupportedError](err); !ok {
			t.Errorf("%#x at %d: %v", value, off, err)
		}
	}
}

// TestRecordsInRecord checks that records within a torn record do not count.
func TestRecordsInRecord(t *testing.T) {
	data, ends := build(4, 0)
	inner := bytes.Clone(data)
	data = appendRecord(data, testMark, int64(len(data)), append(inner, make([]byte, 100)...))
	c, err := parseBytes(data[:len(data)-1])
	if err != nil || c.Damage() != nil || c.Len() != 4 || c.Unreadable() != int64(len(data)-1-ends[4]) {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestZeroTail reads a journal that ends in zeros, as some file systems leave it after a power cut.
func TestZeroTail(t *testing.T) {
	data, _ := build(3, 0)
	c, err := parseBytes(append(data, make([]byte, 3<<20)...))
	if err != nil || c.Damage() != nil || c.Len() != 3 || c.Unreadable() != 3<<20 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := parseBytes(make([]byte, 1000)); err == nil {
		t.Error("zeros were taken for a journal")
	}
	if _, err := parseBytes(appendHead(nil, 0, nil)); err == nil {
		t.Error("a mark of 0 was taken")
	}
}

// TestSearchPieces checks that a record is found where two of the searched pieces meet.
func TestSearchPieces(t *testing.T) {
	for shift := -recordSize - 2; shift < 4; shift++ {
		data, ends := build(1, 0)
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

// TestManySuspects checks that a file that was made to be slow to read is read fast, and does not
// count as whole.
func TestManySuspects(t *testing.T) {
	data, _ := build(1, 0)
	head := binary.LittleEndian.AppendUint32(nil, testMark)
	head = binary.LittleEndian.AppendUint32(head, 4<<20)
	data = append(data, bytes.Repeat(append(head, 0, 0, 0, 0), 1<<20)...)
	r := &countingReader{ReaderAt: bytes.NewReader(data)}
	c, err := parse(r, func() (int64, error) { return int64(len(data)), nil })
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

// TestReadErrors checks that an error of the disk is not taken for a torn tail, which would be dropped.
func TestReadErrors(t *testing.T) {
	for _, data := range [][]byte{buildPlain(5), first(build(5, 2))} {
		size := func() (int64, error) { return int64(len(data)), nil }
		zeros := bytes.Count(data, []byte{0})
		for off := range len(data) {
			if zeros > slotBlock && off%100 > 0 && off < len(data)-500 {
				continue // mostly zeros
			}
			if c, err := parse(brokenAt{data, int64(off)}, size); !errors.Is(err, iotest.ErrTimeout) {
				t.Errorf("broken at %d: %v, %v", off, c, err)
			}
			if c, err := parse(bytes.NewReader(data[:off]), size); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("shrunk to %d: %v, %v", off, c, err)
			}
		}
		for _, fails := range []int{1, 2} {
			n := 0
			_, err := parse(bytes.NewReader(data), func() (int64, error) {
				if n++; n == fails {
					return 0, errInjected
				}
				return int64(len(data)), nil
			})
			if !errors.Is(err, errInjected) {
				t.Errorf("size %d is not known: %v", fails, err)
			}
		}
	}
}

func first(data []byte, _ []int) []byte { return data }

// TestReadWhileAppended reads a journal while another goroutine appends, and finds no
// damage: what is promised was written before the promise.
func TestReadWhileAppended(t *testing.T) {
	before, ends := build(1, 1)
	after, _ := build(3, 3)
	asked := 0
	c, err := parse(bytes.NewReader(after), func() (int64, error) {
		if asked++; asked == 1 {
			return int64(ends[1]), nil
		}
		return int64(len(after)), nil
	})
	if err != nil || c.Damage() != nil || c.Len() != 3 || len(before) != ends[1] {
		t.Errorf("%v, %+v", err, c)
	}
}

// TestChangedUnderneath checks that records that change while they are read are not
// returned.
func TestChangedUnderneath(t *testing.T) {
	data, _ := build(3, 0)
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

// narrow removes the zeros before the records, which slow fuzzing down; widen puts them
// back.
func narrow(data []byte) []byte {
	h, err := parseHead(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		panic(err)
	}
	first := int(h.first)
	slot := func(i int) []byte { return data[slotAt(first, i):][:slotSize] }
	return slices.Concat(data[:headerSize+len(h.about)], slot(0), slot(1), data[first:])
}

func widen(data []byte) []byte {
	if len(data) < headerSize || binary.LittleEndian.Uint32(data[versionOff:]) != version {
		return data
	}
	head := headerSize + int64(binary.LittleEndian.Uint32(data[headerLenOff:]))
	slots, first := placeSlots(head)
	if head+2*slotSize > int64(len(data)) {
		return data
	}
	wide := make([]byte, first, int(first)+len(data))
	copy(wide, data[:head])
	for i := range int64(slotCount) {
		copy(wide[slots+i*slotBlock:], data[head+i*slotSize:][:slotSize])
	}
	return append(wide, data[head+2*slotSize:]...)
}

func FuzzParse(f *testing.F) {
	whole, ends := build(5, 3)
	if !bytes.Equal(widen(narrow(whole)), whole) {
		f.Fatal("what is fuzzed is not what is read")
	}
	f.Add([]byte{})
	f.Add(narrow(appendHead(nil, 1, nil)))
	f.Add(narrow(whole))
	f.Add(narrow(whole[:ends[3]+5]))
	f.Add(buildPlain(3))
	damaged := bytes.Clone(whole)
	damaged[ends[2]+20] ^= 4
	f.Add(narrow(damaged))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = widen(data)
		c, err := parseBytes(data)
		if err != nil {
			_, format := errors.AsType[*FormatError](err)
			_, unsupported := errors.AsType[*UnsupportedError](err)
			if !format && !unsupported {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		records, err := readAll(c)
		if len(records) != c.Len() || !errors.Is(err, c.Damage()) {
			t.Fatalf("%d records of %d, %v", len(records), c.Len(), err)
		}
		// Writing it again makes the same bytes.
		again := bytes.Clone(data[:c.first])
		for _, r := range records {
			again = appendRecord(again, c.mark, int64(len(again)), r)
		}
		if !bytes.HasPrefix(data, again) || int64(len(again)) != c.end {
			t.Fatalf("%d bytes were read as %d others", c.end, len(again))
		}
		if err == nil && int64(len(again))+c.Unreadable() != int64(len(data)) {
			t.Fatalf("%d bytes and %d torn of %d", len(again), c.Unreadable(), len(data))
		}
		if c.Resumable() && (err != nil || c.Unreadable() > 0) {
			t.Fatalf("resumable with %d bytes unreadable, %v", c.Unreadable(), err)
		}
	})
}
