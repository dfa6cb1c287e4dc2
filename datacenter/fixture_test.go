package datacenter_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/verify"
	"lorefs/internal/testneeds"
)

func readFixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFixtureCounts checks the counts in fixtures/README.md, on which four independent
// readers agree.
func TestFixtureCounts(t *testing.T) {
	small := datacenter.Counts{
		Nodes: 604147, Attributes: 2065193, StoredNodes: 246454, StoredAttributes: 737384,
		Sheets: 1215, Names: 988, Values: 67894, Keys: 12,
	}
	for _, tt := range []struct {
		file   string
		layout datacenter.Layout
		want   datacenter.Counts
		texts  int64 // __value__ among the attributes; -1 where the README has no number
	}{
		{"p100_x64.dat", datacenter.LayoutV6X64, datacenter.Counts{
			Nodes: 9915573, Attributes: 33051865, StoredNodes: 3170069, StoredAttributes: 9102426,
			Sheets: 23510, Names: 5668, Values: 778384, Keys: 26,
		}, 106739},
		{"p115_small_x64.dat", datacenter.LayoutV6X64, small, -1},
		{"p115_small_x86.dat", datacenter.LayoutV6X86, small, -1},
		{"novadrop_p115_small_v3.dat", datacenter.LayoutV3, small, -1},
		{"novadrop_p115_small_x86.dat", datacenter.LayoutV6X86, small, -1},
		{"novadrop_p115_small_x64.dat", datacenter.LayoutV6X64, small, -1},
	} {
		t.Run(tt.file, func(t *testing.T) {
			if testneeds.Quick() && tt.file != "p115_small_x86.dat" {
				t.Skip("one file is enough")
			}
			f := mustOpen(t, readFixture(t, tt.file), datacenter.Options{})
			if f.Layout() != tt.layout {
				t.Errorf("layout %v, want %v", f.Layout(), tt.layout)
			}
			if got := f.Counts(); got != tt.want {
				t.Errorf("counts\n%+v, want\n%+v", got, tt.want)
			}
			if !f.Sorted() {
				t.Error("not sorted")
			}
			root, err := f.Root()
			if err != nil {
				t.Fatal(err)
			}
			var c counter
			if err := c.walk(root); err != nil {
				t.Fatal(err)
			}
			if c.nodes != tt.want.Nodes || c.attributes != tt.want.Attributes || (tt.texts >= 0 && c.texts != tt.texts) {
				t.Errorf("walked %+v", c)
			}
		})
	}
}

type counter struct{ nodes, attributes, texts int64 }

func (c *counter) walk(n datacenter.Node) error {
	c.nodes++
	for a, err := range n.Attributes() {
		if err != nil {
			return err
		}
		c.attributes++
		if a.Name() == "__value__" {
			c.texts++
		}
	}
	for child, err := range n.Children() {
		if err != nil {
			return err
		}
		if err := c.walk(child); err != nil {
			return err
		}
	}
	return nil
}

func TestFixturesBreakNoRule(t *testing.T) {
	files := []string{
		"p115_small_x64.dat", "p115_small_x86.dat", "p100_x64.dat",
		"novadrop_p115_small_v3.dat", "novadrop_p115_small_x86.dat", "novadrop_p115_small_x64.dat",
	}
	if testneeds.Quick() {
		files = files[:1]
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			for _, f := range dctest.Findings(t, readFixture(t, file), 5) {
				t.Error(f)
			}
		})
	}
}

// TestLayoutsHoldTheSameTree checks that the two small files are one tree in two dctest.Layouts.
func TestLayoutsHoldTheSameTree(t *testing.T) {
	testneeds.Slow(t, "walks two files whole")
	var sums []string
	for _, file := range []string{"p115_small_x64.dat", "p115_small_x86.dat"} {
		f := mustOpen(t, readFixture(t, file), datacenter.Options{})
		root, err := f.Root()
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		if err := digest(h, root, nil); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, hex.EncodeToString(h.Sum(nil)))
	}
	if sums[0] != sums[1] {
		t.Errorf("the trees differ: %v", sums)
	}
}

// digest writes everything in a tree to h, in the order of the file.
func digest(h hash.Hash, n datacenter.Node, buf []byte) error {
	fmt.Fprintf(h, "(%q %v %d", n.Name(), n.Keys(), n.Flags())
	for a, err := range n.Attributes() {
		if err != nil {
			return err
		}
		text, err := a.AppendText(buf[:0])
		if err != nil {
			return err
		}
		fmt.Fprintf(h, " %q %v %d ", a.Name(), a.Type(), len(text))
		h.Write(text)
		buf = text
	}
	for c, err := range n.Children() {
		if err != nil {
			return err
		}
		if err := digest(h, c, buf); err != nil {
			return err
		}
	}
	h.Write([]byte(")"))
	return nil
}

// TestFixtureFromItsIndex checks that a real file reads the same from its index as when it
// is inflated.
func TestFixtureFromItsIndex(t *testing.T) {
	testneeds.Slow(t, "walks a file twice")
	data := readFixture(t, "p115_small_x64.dat")
	store := dctest.Index{}
	var sums [][]byte
	for range 2 {
		f := mustOpen(t, data, datacenter.Options{Index: store})
		root, err := f.Root()
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		if err := digest(h, root, nil); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, h.Sum(nil))
	}
	if !bytes.Equal(sums[0], sums[1]) {
		t.Error("the second Open gives another tree")
	}
}

// TestVerifyProgress checks that the progress of a check grows, in both halves of the work.
func TestVerifyProgress(t *testing.T) {
	data := readFixture(t, "p115_small_x86.dat")
	var last, halves int64
	for f, err := range verify.File(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{
		Progress: func(done, total int64) {
			if done < last || done > total {
				t.Errorf("%d of %d comes after %d", done, total, last)
			}
			last = done
			halves |= 1 << min(2*done/total, 1)
		},
	}) {
		t.Fatalf("%v, %v", f, err)
	}
	if halves != 3 {
		t.Errorf("the halves with progress are %b", halves)
	}
}
