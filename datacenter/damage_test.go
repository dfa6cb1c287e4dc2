package datacenter_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/verify"
	"lorefs/internal/testneeds"
)

// maxAllocated bounds what reading a small bad file may allocate in total.
const maxAllocated = 256 << 20

// allocated runs f and returns how many bytes it allocated.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestBrokenFilesAreFound(t *testing.T) {
	testneeds.Slow(t, "makes hundreds of files")
	for _, layout := range dctest.Layouts {
		for _, b := range dctest.Broken(layout) {
			t.Run(layout.String()+"/"+b.Name, func(t *testing.T) {
				if n := allocated(func() { checkBroken(t, b) }); n > maxAllocated {
					t.Errorf("%d MiB allocated", n>>20)
				}
			})
		}
	}
}

// checkBroken checks that Open or reading fails with an error that says where. If the
// mistake is in data that reading does not need, it checks that Verify finds it.
func checkBroken(t *testing.T, b dctest.BrokenFile) {
	t.Helper()
	f, err := open(b.Data, datacenter.Options{})
	if err == nil {
		var root datacenter.Node
		if root, err = f.Root(); err == nil {
			_, err = walk(root, 1<<20)
		}
	}
	if err != nil {
		if !strings.Contains(err.Error(), "offset 0x") || !isFormatError(err) {
			t.Errorf("the error does not say where: %v", err)
		}
		return
	}
	if b.Found == dctest.Never {
		return
	}
	all := dctest.Findings(t, b.Data, 5)
	if len(all) == 0 {
		t.Errorf("nothing is found: want %s", b.Want)
	}
	for _, f := range all {
		if f.Off < 0 || f.What == "" {
			t.Errorf("finding that does not say what and where: %+v", f)
		}
	}
}

// TestVerifyFindsWhatOpenRefuses checks that Verify finds the mistakes for which Open
// fails.
func TestVerifyFindsWhatOpenRefuses(t *testing.T) {
	testneeds.Slow(t, "goes through the broken files once more")
	for _, b := range dctest.Broken(datacenter.LayoutV6X64) {
		if b.Found != dctest.AtOpen || b.Name == "wrong key" {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			data := bytes.NewReader(b.Data)
			found := 0
			for _, err := range verify.File(t.Context(), data, data.Size(), datacenter.Options{}) {
				if err == nil || isFormatError(err) {
					found++
				}
			}
			if found == 0 {
				t.Errorf("nothing found: want %s", b.Want)
			}
		})
	}
}

// TestEveryByteOfTheFileCounts checks that a change of any byte of the file on disk makes
// Open fail: the Adler-32 covers all that is not structure.
func TestEveryByteOfTheFileCounts(t *testing.T) {
	data := dctest.Build(dctest.SmallDoc(datacenter.LayoutV6X64), dctest.Options{})
	step := 1
	if testneeds.Quick() {
		step = 173
	}
	for off := 0; off < len(data); off += step {
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(data)
			bad[off] ^= flip
			if _, err := open(bad, datacenter.Options{}); !isFormatError(err) {
				t.Fatalf("byte %#x ^ %#x: %v, want a FormatError", off, flip, err)
			}
		}
	}
}

func TestEveryTruncationIsFound(t *testing.T) {
	data := dctest.Build(dctest.SmallDoc(datacenter.LayoutV6X64), dctest.Options{})
	step := 1
	if testneeds.Quick() {
		step = 31
	}
	for n := 0; n < len(data); n += step {
		_, err := open(data[:n], datacenter.Options{})
		if n == len(data)-4 { // only the checksum is lost, and some writers write none
			if len(dctest.Findings(t, data[:n], 5)) != 1 {
				t.Error("a missing Adler-32 is not found")
			}
			continue
		}
		if !isFormatError(err) {
			t.Fatalf("cut to %d of %d bytes: %v, want a FormatError", n, len(data), err)
		}
	}
}

// TestEveryExtensionIsFound checks that bytes behind the end are reported and not read.
func TestEveryExtensionIsFound(t *testing.T) {
	data := dctest.Build(dctest.SmallDoc(datacenter.LayoutV6X64), dctest.Options{})
	for n := 1; n < 64; n++ {
		longer := append(bytes.Clone(data), make([]byte, n)...)
		f := mustOpen(t, longer, datacenter.Options{})
		if inFile, _ := f.TrailingBytes(); inFile != int64(n) {
			t.Errorf("TrailingBytes = %d, want %d", inFile, n)
		}
		if len(dctest.Findings(t, longer, 5)) != 1 {
			t.Errorf("%d bytes behind the end are not found once", n)
		}
	}
}

// TestEveryInflatedByteFlipped changes each byte of the inflated data. The reader must fail
// with a FormatError or read something, and Verify must end.
func TestEveryInflatedByteFlipped(t *testing.T) {
	for _, layout := range dctest.SomeLayouts() {
		m := dctest.NewImage(dctest.SmallDoc(layout), dctest.Options{FullCount: 40})
		step := 29
		if testneeds.Quick() {
			step = 311
		}
		for off := 0; off < len(m.Data); off += step {
			for _, flip := range []byte{0x01, 0xff} {
				m.Data[off] ^= flip
				data := m.Seal(dctest.SealOptions{Stored: true})
				m.Data[off] ^= flip
				f, err := open(data, datacenter.Options{})
				if err == nil {
					var root datacenter.Node
					if root, err = f.Root(); err == nil {
						_, err = walk(root, 1<<14)
					}
				}
				if err != nil && !isFormatError(err) {
					t.Fatalf("%v: byte %#x ^ %#x: %v, want a FormatError", layout, off, flip, err)
				}
				if found := dctest.Findings(t, data, 3); err != nil && len(found) == 0 {
					t.Fatalf("%v: byte %#x ^ %#x: %v, but Verify finds nothing", layout, off, flip, err)
				}
			}
		}
	}
}
