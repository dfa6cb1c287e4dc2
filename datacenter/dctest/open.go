package dctest

import (
	"bytes"
	"iter"
	"testing"

	"lorefs/datacenter"
)

// Open opens a file that is in memory.
func Open(t testing.TB, data []byte) *datacenter.File {
	t.Helper()
	return OpenAs(t, data, datacenter.LayoutAuto)
}

// OpenAs is Open for a layout. Small files, such as those of random trees, may fit two.
func OpenAs(t testing.TB, data []byte, layout datacenter.Layout) *datacenter.File {
	t.Helper()
	f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Findings are what Verify says, at most limit.
func Findings(t testing.TB, data []byte, limit int) []datacenter.Finding {
	t.Helper()
	return atMost(t, datacenter.Verify(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{}), limit)
}

// StrictFindings are what VerifyStrict says, at most limit.
func StrictFindings(t testing.TB, data []byte, limit int) []datacenter.Finding {
	t.Helper()
	return StrictFindingsAs(t, data, datacenter.LayoutAuto, limit)
}

// StrictFindingsAs is StrictFindings for a layout, as [OpenAs] is Open.
func StrictFindingsAs(t testing.TB, data []byte, layout datacenter.Layout, limit int) []datacenter.Finding {
	t.Helper()
	return atMost(t, datacenter.VerifyStrict(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{Layout: layout}), limit)
}

func atMost(t testing.TB, found iter.Seq2[datacenter.Finding, error], limit int) []datacenter.Finding {
	t.Helper()
	var all []datacenter.Finding
	for f, err := range found {
		if err != nil {
			t.Fatalf("Verify: %v", err)
		}
		if all = append(all, f); len(all) == limit {
			break
		}
	}
	return all
}
