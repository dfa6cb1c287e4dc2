package query_test

import (
	"bytes"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds"
)

// TestBrokenFiles checks that a query over a whole broken file ends with an error, and
// without a panic.
func TestBrokenFiles(t *testing.T) {
	testneeds.Seconds(t)
	failed := 0
	for _, broken := range dctest.Broken(datacenter.LayoutV6X64) {
		f, err := datacenter.Open(t.Context(), bytes.NewReader(broken.Data), int64(len(broken.Data)), datacenter.Options{})
		if err != nil {
			continue
		}
		for _, err := range compile(t, "//*[contains(@*,'x')] | //@*").Run(t.Context(), f) {
			if err != nil {
				failed++
			}
		}
	}
	if failed == 0 {
		t.Error("nothing that is broken was met")
	}
}
