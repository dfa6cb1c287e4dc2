package testneeds

import (
	"os"
	"testing"
)

// amountVar says how much the tests try. It is not set for `go test ./...`, which somebody waits
// for. The steps of `.ci/run` set it to fewTests where the race detector watches and to mostTests
// otherwise, and `.ci/run --long` to allTests.
const (
	amountVar = "LOREFS_TESTS"
	fewTests  = "few"
	mostTests = "most"
	allTests  = "all"
)

// amount returns 0 for `go test ./...`, and a number from 1 to 3 for fewTests to allTests.
func amount() int {
	switch value := os.Getenv(amountVar); {
	case testing.Short() || value == "":
		return 0
	case value == fewTests:
		return 1
	case value == mostTests:
		return 2
	case value == allTests:
		return 3
	default:
		panic(amountVar + "=" + value + ": want " + fewTests + ", " + mostTests + " or " + allTests)
	}
}

// Waited reports whether somebody waits for the tests, so that those are left out that take seconds.
func Waited() bool { return amount() == 0 }

// Seconds skips a test that takes seconds where [Waited] is true.
func Seconds(t testing.TB) {
	t.Helper()
	if Waited() {
		t.Skipf("it takes seconds (.ci/run runs it, and %s=%s does)", amountVar, fewTests)
	}
}

// Quick reports whether slow tests are left out, and the others try a few cases.
func Quick() bool { return amount() < 2 }

// Slow skips a slow test where [Quick] is true. why says what is slow.
func Slow(t testing.TB, why string) {
	t.Helper()
	if Quick() {
		t.Skipf("%s (.ci/run runs it, and %s=%s does)", why, amountVar, mostTests)
	}
}

// Cases returns how many cases a test tries: quick where [Quick] is true, most in `.ci/run`, and all
// in `.ci/run --long`.
func Cases(quick, most, all int) int { return [...]int{quick, quick, most, all}[amount()] }
