package resourcetree_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/bundle"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/resourcetree"
)

func TestTree(t *testing.T) {
	f := resourcetree.Format
	var b bytes.Buffer
	err := f.Write(&b, slices.Values([]bundle.Input{
		{Name: "로딩 화면.txt", Size: 4, Content: strings.NewReader("text")}, {Name: "empty", Content: strings.NewReader("")},
	}))
	if err != nil {
		t.Fatal(err)
	}
	r, size := bytes.NewReader(b.Bytes()), int64(b.Len())
	if is, err := f.Detect(r, size); !is || err != nil {
		t.Errorf("%v, %v", is, err)
	}
	files, err := f.Open(r, size)
	if err != nil {
		t.Fatal(err)
	}
	opts := bundle.Options{ModTime: time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC), SourceSize: size}
	nodetest.Run(t, bundle.New(files, opts))
	nodetest.RunMutable(t, func(*testing.T) nodes.Mutable {
		return bundle.NewEditable(bundle.New(files, opts), f, bundle.EditOptions{})
	}, nodetest.Edits{Files: [2]string{"a.png", "b c"}, Dirs: [2]string{"d", "e"}, Valid: [2]string{"some text", "other"}, Flat: true})
}

// TestVerify checks that findings and errors come through.
func TestVerify(t *testing.T) {
	for found, err := range resourcetree.Format.Verify(strings.NewReader("no container"), 12, true) {
		if err != nil || found.Off != 8 || !strings.HasPrefix(found.String(), "offset 8: the end of the file: the magic 0x") {
			t.Errorf("%v, %v", found, err)
		}
	}
	for _, err := range resourcetree.Format.Verify(closed{}, 12, true) {
		if err == nil {
			t.Error("a file that can't be read has a finding")
		}
	}
}

type closed struct{}

func (closed) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }
