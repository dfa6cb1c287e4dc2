package resource_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"lorefs/internal/testneeds"
	"lorefs/nodes/resourcetree/resource"
)

// open opens a container that must be one.
func open(t testing.TB, data []byte) *resource.Container {
	t.Helper()
	c, err := resource.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// content reads file i.
func content(t testing.TB, c *resource.Container, i int) []byte {
	t.Helper()
	b := make([]byte, c.Size(i))
	if n, err := c.ReadAt(i, b, 0); n != len(b) || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%s: %d bytes, %v", c.Name(i), n, err)
	}
	return b
}

// again writes the files of a container anew.
func again(t testing.TB, c *resource.Container) []byte {
	t.Helper()
	var b bytes.Buffer
	err := resource.Write(&b, func(yield func(resource.File) bool) {
		for i := range c.Len() {
			if !yield(resource.File{Name: c.Name(i), Size: c.Size(i), Content: bytes.NewReader(content(t, c, i))}) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFixture reads a container that novadrop packed, and packs it anew.
func TestFixture(t *testing.T) {
	data, err := os.ReadFile(testneeds.Fixture(t, "resources/novadrop_rc.dat"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.Open(testneeds.Fixture(t, "resources/novadrop_rc.sha256"))
	if err != nil {
		t.Fatal(err)
	}
	defer sums.Close()
	c := open(t, data)
	i := 0
	for lines := bufio.NewScanner(sums); lines.Scan(); i++ {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		got := sha256.Sum256(content(t, c, i))
		if c.Name(i) != name || hex.EncodeToString(got[:]) != sum {
			t.Errorf("file %d is %q, %x; want %q, %s", i, c.Name(i), got, name, sum)
		}
	}
	if i != c.Len() || i != 9 {
		t.Errorf("%d files of %d", i, c.Len())
	}
	if !bytes.Equal(again(t, c), data) {
		t.Error("it is packed as other bytes")
	}
	for f, err := range resource.Verify(bytes.NewReader(data), int64(len(data)), true) {
		t.Error(f, err)
	}
}

// TestReadAt checks reads that begin and end anywhere, since each has its own part of the key.
func TestReadAt(t *testing.T) {
	text := make([]byte, 10_000)
	for i := range text {
		text[i] = byte(i * 7)
	}
	var b bytes.Buffer
	err := resource.Write(&b, slices.Values([]resource.File{
		{Name: "before", Size: 5, Content: strings.NewReader("12345")}, {Name: "it", Size: int64(len(text)), Content: iotest.OneByteReader(bytes.NewReader(text))},
	}))
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, b.Bytes())
	for _, off := range []int{0, 1, 31, 32, 33, 4095, 4096, 9_999} {
		for _, n := range []int{0, 1, 31, 32, 100, 9_000} {
			p := make([]byte, n)
			got, err := c.ReadAt(1, p, int64(off))
			want := text[off:min(off+n, len(text))]
			if !bytes.Equal(p[:got], want) || (err == io.EOF) != (off+n > len(text)) { //nolint:errorlint // it must not be wrapped
				t.Errorf("%d bytes at %d: %d, %v", n, off, got, err)
			}
		}
	}
	if _, err := c.ReadAt(1, make([]byte, 1), -1); err == nil {
		t.Error("a negative offset")
	}
	if _, err := c.ReadAt(1, make([]byte, 1), 10_000); err != io.EOF { //nolint:errorlint // as above
		t.Error(err)
	}
}

// raw is an entry as it lies in a directory.
type raw struct {
	size, offset uint32
	name         []uint16
}

func named(size, offset uint32, name string) raw {
	return raw{size, offset, utf16.Encode([]rune(name))}
}

// container returns a container of contents and a directory, of which the last cut bytes lack.
func container(contents string, cut int, entries ...raw) []byte {
	// The key, from the documentation of the format.
	key, err := hex.DecodeString("1c2400001f04000072f400001d620000bda80000dba700000130000033270000")
	if err != nil {
		panic(err)
	}
	var dir []byte
	for _, e := range entries {
		dir = binary.LittleEndian.AppendUint32(dir, e.size)
		dir = binary.LittleEndian.AppendUint32(dir, e.offset)
		for _, u := range append(slices.Clone(e.name), 0) {
			dir = binary.LittleEndian.AppendUint16(dir, u)
		}
	}
	dir = dir[:len(dir)-cut]
	for i := range dir {
		dir[i] ^= key[i%len(key)]
	}
	b := append([]byte(contents), dir...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(dir)))
	return binary.LittleEndian.AppendUint32(b, 0x01001fff)
}

// overlapping returns a container of n files that all have the same bytes, a MiB.
func overlapping(n int) []byte {
	entries := make([]raw, n)
	for i := range entries {
		entries[i] = named(1<<20, 0, fmt.Sprintf("%04d", i))
	}
	return container(strings.Repeat("x", 1<<20), 0, entries...)
}

// broken are containers that break the format, with the offset and the text of the error.
var broken = map[string]struct {
	data []byte
	off  int64
	want string
}{
	"empty file":             {nil, 0, "0 bytes: want at least 8"},
	"no magic":               {make([]byte, 20), 16, "the magic 0x00000000: want 0x01001fff"},
	"directory before start": {[]byte{1, 0, 0, 0, 0xff, 0x1f, 0, 1}, 0, "a directory of 1 bytes: want up to the 0 that precede it"},
	"name twice":             {container("ab", 0, named(1, 0, "x"), named(1, 1, "y"), named(1, 0, "x")), 2 + 24, `entry 2: the name "x": want one that no other file has, but entry 0 has it`},
	"folder above":           {container("ab", 0, named(1, 0, `..\x`)), 2 + 8, `entry 0: the name "..\\x": want one without / \ :, since files are in no folder`},
	"absolute":               {container("ab", 0, named(1, 0, `C:x`)), 2 + 8, `entry 0: the name "C:x": want one without`},
	"slash":                  {container("ab", 0, named(1, 0, `a/b`)), 2 + 8, `entry 0: the name "a/b": want one without`},
	"dots":                   {container("ab", 0, named(1, 0, `..`)), 2 + 8, `entry 0: the name "..": want one of a file`},
	"no name":                {container("ab", 0, named(1, 0, ``)), 2 + 8, "entry 0: a file without a name"},
	"control":                {container("ab", 0, named(1, 0, "a\n")), 2 + 8, "want one without control characters"},
	"long":                   {container("", 0, named(0, 0, strings.Repeat("é", 128))), 8, "a name of 256 bytes: want up to 255"},
	"longer than any":        {container("", 0, named(0, 0, strings.Repeat("x", 5000))), 8, "a name of 5000 UTF-16 units: want up to 255"},
	"more than fits":         {overlapping(2048), 1<<20 + 2047*18, `entry 2047: "2047" has 1048576 bytes, and those before it 2146435072: want up to 2147483647 together`},
	"half a surrogate":       {container("", 0, raw{0, 0, []uint16{'a', 0xd800}}), 8, "want UTF-16"},
	"past the end":           {container("ab", 0, named(1, 0, "x"), named(2, 1, "y")), 2 + 12, `entry 1: "y" has 2 bytes at 1: want it to end by 2, where the directory begins`},
	"empty past the end":     {container("ab", 0, named(0, 3, "x")), 2, `entry 0: "x" has 0 bytes at 3: want it to end by 2`},
	"negative size":          {container("ab", 0, named(1<<31, 0, "x")), 2, `"x" has 2147483648 bytes: want up to 2147483647`},
	"negative offset":        {container("ab", 0, named(0, 1<<31, "x")), 2 + 4, `"x" is at 2147483648: want up to 2147483647`},
	"sum overflows":          {container("ab", 0, named(1<<31-1, 1<<31-1, "x")), 2, `want it to end by 2`},
	"cut in the name":        {container("ab", 3, named(1, 0, "x"), named(1, 1, "yy")), 2 + 12, "entry 1: the last 11 bytes of the directory: want a size, an offset, and a name that ends with a NUL"},
	"cut in the numbers":     {container("ab", 9, named(1, 0, "x"), named(1, 1, "y")), 2 + 12, "entry 1: the last 3 bytes of the directory"},
	"cut at the NUL":         {container("ab", 1, named(1, 0, "x")), 2, "entry 0: the last 11 bytes of the directory"},
}

func TestBroken(t *testing.T) {
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			_, err := resource.Open(bytes.NewReader(b.data), int64(len(b.data)))
			f, ok := errors.AsType[*resource.FormatError](err)
			if !ok || f.Off != b.off || !strings.Contains(err.Error(), b.want) {
				t.Fatalf("%v: want offset %d and %q", err, b.off, b.want)
			}
			for f, err := range resource.Verify(bytes.NewReader(b.data), int64(len(b.data)), false) {
				if err != nil || f.Off != b.off || !strings.Contains(f.Error(), b.want) {
					t.Errorf("verify finds %v, %v", f, err)
				}
				return
			}
			t.Error("verify finds nothing")
		})
	}
}

// TestVerifyAll checks that Verify goes on after what it finds.
func TestVerifyAll(t *testing.T) {
	data := container("abcdef", 0, named(2, 0, "a?"), named(9, 0, "far"), named(2, 1, "A?"), named(0, 6, "x/y"), named(1, 5, "last "))
	plain := []string{
		`20 "far" has 9 bytes at 0: want it to end by 6, where the directory begins`,
		`58 the name "x/y": want one without / \ :, since files are in no folder`,
	}
	strict := append(slices.Clone(plain),
		`14 "a?": want one that Windows can have, but it has a ?`,
		`44 "A?": want one that Windows can have, but it has a ?`,
		`44 "A?": want one that differs from "a?" in more than case`,
		`74 "last ": want one that Windows can have, but it ends in a dot or a space`,
		`1 1 bytes of "A?" belong to "a?" too`,
		`3 2 bytes belong to no file`,
	)
	for isStrict, want := range map[bool][]string{false: plain, true: strict} {
		var got []string
		for f, err := range resource.Verify(bytes.NewReader(data), int64(len(data)), isStrict) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %s", f.Off, f.What))
		}
		if !slices.Equal(got, want) {
			t.Errorf("strict: %v: got\n%s\nwant\n%s", isStrict, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestTruncated checks that a file which ends early is no content.
func TestTruncated(t *testing.T) {
	data := container("abcdef", 0, named(6, 0, "x"))
	c, err := resource.Open(short{bytes.NewReader(data)}, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.ReadAt(0, make([]byte, 6), 0); n != 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// short ends its contents after three bytes.
type short struct{ *bytes.Reader }

func (s short) ReadAt(p []byte, off int64) (int, error) {
	if off < 3 {
		n, _ := s.Reader.ReadAt(p[:3-off], off)
		return n, io.EOF
	}
	return s.Reader.ReadAt(p, off)
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		files []resource.File
		want  string
	}{
		{[]resource.File{{"a", 1, strings.NewReader("a")}, {"a", 1, strings.NewReader("b")}}, "a: two files have the name"},
		{[]resource.File{{`..\a`, 1, strings.NewReader("a")}}, `want one without / \ :`},
		{[]resource.File{{"a", 2, strings.NewReader("a")}}, "it ends after 1 bytes: want 2"},
		{[]resource.File{{"a", 1, strings.NewReader("ab")}}, "it has more bytes than the 1"},
		{[]resource.File{{"a", 1 << 31, strings.NewReader("")}}, "want up to 2147483647 together"},
		{[]resource.File{{"a", 1, iotest.ErrReader(io.ErrClosedPipe)}}, "closed pipe"},
		{[]resource.File{{"\xff", 0, strings.NewReader("")}}, "want UTF-8"},
	} {
		if err := resource.Write(io.Discard, slices.Values(c.files)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	full := func(yield func(resource.File) bool) {
		yield(resource.File{Name: "a", Size: 1, Content: strings.NewReader("a")})
	}
	if err := resource.Write(fullDisk{}, full); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestDetect(t *testing.T) {
	for name, want := range map[string]bool{"name twice": true, "no magic": false, "empty file": false, "directory before start": false} {
		data := broken[name].data
		if is, err := resource.Detect(bytes.NewReader(data), int64(len(data))); is != want || err != nil {
			t.Errorf("%s: %v, %v", name, is, err)
		}
	}
	if is, err := resource.Detect(failing{}, 100); is || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v, %v", is, err)
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// FuzzContainer reads data as a container, and as a directory that has the right end. What can be
// read is written and read again.
func FuzzContainer(f *testing.F) {
	for _, b := range broken {
		f.Add(b.data)
	}
	f.Add(container("abc", 0, named(1, 0, "a"), named(2, 1, "bild.png"), named(0, 0, "로딩 화면.txt")))
	f.Fuzz(func(t *testing.T, data []byte) {
		check := func(data []byte) {
			c, err := resource.Open(bytes.NewReader(data), int64(len(data)))
			found := 0
			for _, err := range resource.Verify(bytes.NewReader(data), int64(len(data)), true) {
				if err != nil {
					t.Fatal(err)
				}
				found++
			}
			if err != nil {
				if _, ok := errors.AsType[*resource.FormatError](err); !ok || found == 0 {
					t.Fatalf("%v: want a FormatError; verify finds %d things", err, found)
				}
				return
			}
			total := int64(0)
			for i := range c.Len() {
				if total += c.Size(i); total > 1<<20 {
					return // many may have the same bytes
				}
			}
			written := again(t, c)
			if next := again(t, open(t, written)); !bytes.Equal(next, written) {
				t.Fatal("it is written in two ways")
			}
		}
		check(data)
		if len(data) > 0 {
			n := uint32(int(data[0]) % len(data))
			b := binary.LittleEndian.AppendUint32(slices.Clone(data), n)
			check(binary.LittleEndian.AppendUint32(b, 0x01001fff))
		}
	})
}
