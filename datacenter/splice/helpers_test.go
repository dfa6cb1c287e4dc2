package splice_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds"
)

func open(data []byte, opts datacenter.Options) (*datacenter.File, error) {
	return datacenter.Open(context.Background(), bytes.NewReader(data), int64(len(data)), opts)
}

func mustOpen(t testing.TB, data []byte, opts datacenter.Options) *datacenter.File {
	t.Helper()
	f, err := open(data, opts)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return f
}

func readFixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// writeAnew writes a draft of f without edits.
func writeAnew(ctx context.Context, f *datacenter.File, w io.Writer, opts datacenter.WriteOptions) error {
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		return err
	}
	s := d.Snapshot()
	defer s.Close()
	_, err = s.Write(ctx, opts, w)
	return err
}
