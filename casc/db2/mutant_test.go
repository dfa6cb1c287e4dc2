package db2_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"lorefs/casc"
	"lorefs/casc/db2"
	"lorefs/casc/db2/dbd"
	"lorefs/internal/testneeds"
)

// What a damaged table may cost.
const (
	mutantTime   = 2 * time.Second
	mutantMemory = 128 << 20
)

// TestMutants damages tables. All that may happen is an error of the format, or wrong rows.
func TestMutants(t *testing.T) {
	list, dir := fixtures(t)
	random := rand.New(rand.NewPCG(1, 2))
	n := testneeds.Cases(1000, 5000, 100000)
	broken := 0
	for i := range n {
		f := &list[i%len(list)]
		data := readFile(t, dir, f.File)
		mutate(random, data)
		if random.IntN(8) == 0 {
			data = data[:random.IntN(len(data)+1)]
		}
		d, err := dbd.Parse(readFile(t, dir, f.Dbd))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		err = readAll(data, d, f)
		took := time.Since(begin)
		runtime.ReadMemStats(&after)
		if err != nil {
			broken++
		}
		if _, ok := errors.AsType[*casc.FormatError](err); err != nil && !ok {
			t.Errorf("mutant %d of %s: %v is no error of the format", i, f.File, err)
		}
		if memory := after.TotalAlloc - before.TotalAlloc; took > mutantTime || memory > mutantMemory {
			t.Errorf("mutant %d of %s: %v, %d bytes", i, f.File, took, memory)
		}
	}
	t.Logf("%d of %d can't be read", broken, n)
}

// mutate changes a few bytes, most often in the head of a table.
func mutate(random *rand.Rand, data []byte) {
	for range 1 + random.IntN(4) {
		at := random.IntN(len(data))
		if random.IntN(3) > 0 {
			at = random.IntN(min(len(data), 400))
		}
		if at < 4 {
			at = min(4, len(data)-1) // the magic
		}
		switch random.IntN(3) {
		case 0:
			data[at] ^= 1 << random.IntN(8)
		case 1:
			data[at] = byte(random.Uint32())
		default:
			for k := at; k < min(at+4, len(data)); k++ {
				data[k] = 0xff
			}
		}
	}
}

// readAll reads a table with its definition and without, as far as it goes.
func readAll(data []byte, d *dbd.Definition, f *fixture) error {
	table, err := db2.Parse(data)
	if err != nil {
		return err
	}
	build, _ := dbd.ParseBuild(f.Build)
	if version, _ := d.Choose(&table.Header, build); version != nil {
		view, err := table.View(db2.Options{Columns: version.Columns})
		if err == nil {
			return view.Write(io.Discard, db2.JSON)
		}
		if !errors.Is(err, db2.ErrDefinition) {
			return err
		}
	}
	view, err := table.View(db2.Options{})
	if err != nil {
		return err
	}
	return view.Write(io.Discard, db2.CSV)
}
