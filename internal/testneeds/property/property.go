// Package property tries properties of what is tested, in as many cases as package testneeds says. It
// is not part of that, since all programs that import rapid start more slowly.
package property

import (
	"flag"
	"os"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"lorefs/internal/testneeds"
)

// So many cases of a property are tried where [testneeds.Quick] or [testneeds.Waited] is true.
// RAPID_CHECKS or -rapid.checks ask for another number; the default of rapid is 100.
const quickChecks, waitedChecks = 20, 5

// Check is rapid.Check, which tries fewer cases where [testneeds.Quick] is true.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	limitChecks()
	rapid.Check(t, property)
}

// limitChecks sets rapid's number of cases. It has no other way to be told than its flag.
var limitChecks = sync.OnceFunc(func() {
	const checks = "rapid.checks"
	asked := os.Getenv("RAPID_CHECKS") != ""
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == checks })
	if asked || !testneeds.Quick() {
		return
	}
	cases := quickChecks
	if testneeds.Waited() {
		cases = waitedChecks
	}
	if err := flag.Set(checks, strconv.Itoa(cases)); err != nil {
		panic("BUG: rapid has no flag " + checks + ": " + err.Error())
	}
})
