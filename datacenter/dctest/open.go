package dctest

import (
	"bytes"
	"iter"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/verify"
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
func Findings(t testing.TB, data []byte, limit int) []verify.Finding {
	t.Helper()
	return atMost(t, verify.File(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{}), limit)
}

// StrictFindings are what VerifyStrict says, at most limit.
func StrictFindings(t testing.TB, data []byte, limit int) []verify.Finding {
	t.Helper()
	return StrictFindingsAs(t, data, datacenter.LayoutAuto, limit)
}

// StrictFindingsAs is StrictFindings for a layout, as [OpenAs] is Open.
func StrictFindingsAs(t testing.TB, data []byte, layout datacenter.Layout, limit int) []verify.Finding {
	t.Helper()
	return atMost(t, verify.Strict(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{Layout: layout}), limit)
}

func atMost(t testing.TB, found iter.Seq2[verify.Finding, error], limit int) []verify.Finding {
	t.Helper()
	var all []verify.Finding
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
