package testneeds

import (
	"flag"
	"strconv"

	"lorefs/internal/cores"
)

// AtOnce has n tests run at a time for each processor, unless -parallel says how many. It is for a
// TestMain of parallel tests that wait for most of the time.
func AtOnce(n int) {
	const parallel = "test.parallel"
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == parallel })
	if asked {
		return
	}
	if err := flag.Set(parallel, strconv.Itoa(n*cores.Count())); err != nil {
		panic("BUG: go test has no flag " + parallel + ": " + err.Error())
	}
}
