package testneeds

import (
	"os"
	"testing"
)

// amountVar says how much the tests try. It is not set for `go test ./...`, which takes eight
// minutes on two cores when nothing is built yet. `.ci/run` sets it to mostTests, and `.ci/run --long` to allTests.
const (
	amountVar = "LOREFS_TESTS"
	mostTests = "most"
	allTests  = "all"
)

// Quick reports whether slow tests are left out, and the others try a few cases.
func Quick() bool { return Cases(1, 0, 0) > 0 }

// Slow skips a slow test where [Quick] is true. why says what is slow.
func Slow(t testing.TB, why string) {
	t.Helper()
	if Quick() {
		t.Skipf("%s (.ci/run runs it, and %s=%s does)", why, amountVar, mostTests)
	}
}

// Cases returns how many cases a test tries: quick in `go test ./...`, most in `.ci/run`, and all
// in `.ci/run --long`.
func Cases(quick, most, all int) int {
	switch value := os.Getenv(amountVar); {
	case testing.Short() || value == "":
		return quick
	case value == mostTests:
		return most
	case value == allTests:
		return all
	default:
		panic(amountVar + "=" + value + ": want " + mostTests + " or " + allTests)
	}
}
