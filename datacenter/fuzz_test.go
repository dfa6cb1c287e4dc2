package datacenter_test

import (
	"bytes"
	"errors"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/verify"
)

// FuzzFile reads any inflated data, or any file, completely. Reading must fail with a
// FormatError or return a tree. Verify must end, and find the mistakes that make reading
// fail.
func FuzzFile(f *testing.F) {
	for _, layout := range dctest.Layouts {
		m := dctest.NewImage(dctest.Doc{Layout: layout, Root: dctest.Root(
			&dctest.Node{Name: "A", Keys: []string{"id"}, Attrs: []dctest.Attr{{Name: "id", Value: 1}, dctest.Text("one")}},
			&dctest.Node{Name: "A", Keys: []string{"id"}, Attrs: []dctest.Attr{{Name: "id", Value: 2}}, Children: []*dctest.Node{{Name: "B"}}},
		)}, dctest.Options{FullCount: 4})
		f.Add(m.Data, true)
		f.Add(m.Seal(dctest.SealOptions{}), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, inflated bool) {
		if len(data) > 1<<20 {
			return
		}
		if inflated {
			data = dctest.Seal(data, dctest.SealOptions{Stored: true})
		}
		err := readWhole(data)
		if err != nil && !isFormatError(err) {
			t.Fatalf("%v: want a FormatError", err)
		}
		found := 0
		r := bytes.NewReader(data)
		for _, verr := range verify.File(t.Context(), r, r.Size(), datacenter.Options{}) {
			if verr != nil && !errors.Is(verr, datacenter.ErrKey) {
				t.Fatalf("Verify: %v", verr)
			}
			if found++; found == 20 {
				break
			}
		}
		if err != nil && found == 0 {
			t.Fatalf("%v, but Verify finds nothing", err)
		}
	})
}

func readWhole(data []byte) error {
	f, err := open(data, datacenter.Options{})
	if err != nil {
		return err
	}
	root, err := f.Root()
	if err != nil {
		return err
	}
	_, err = walk(root, 1<<14)
	return err
}
