package verify_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/verify"
	"lorefs/internal/cache"
	"lorefs/internal/testneeds"
)

// checkOrder checks that Verify finds what checking one part after the other finds.
func checkOrder(t *testing.T, what string, data []byte, opts datacenter.Options, strict bool) (found int) {
	t.Helper()
	r := bytes.NewReader(data)
	want, wantErr := verify.InOrder(t.Context(), r, r.Size(), opts, strict)
	check := verify.File
	if strict {
		check = verify.Strict
	}
	var all []verify.Finding
	var err error
	for f, e := range check(t.Context(), r, r.Size(), opts) {
		if err = e; err == nil {
			all = append(all, f)
		}
	}
	if !slices.Equal(all, want) || (err == nil) != (wantErr == nil) {
		t.Errorf("%s: %d findings %.3v, %v\nwant %d: %.3v, %v", what, len(all), all, err, len(want), want, wantErr)
	}
	return len(all)
}

// damaged calls visit for files with random damages of their inflated data.
func damaged(count int, visit func(data []byte, rng *rand.Rand)) {
	for i, layout := range dctest.Layouts {
		m := dctest.NewImage(dctest.SmallDoc(layout), dctest.Options{SegmentSize: 60})
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		for range count {
			before := bytes.Clone(m.Data)
			for range 1 + rng.IntN(4) {
				m.Data[rng.IntN(len(m.Data))] ^= byte(1 + rng.IntN(255))
			}
			visit(m.Seal(dctest.SealOptions{Stored: true}), rng)
			m.Data = before
		}
	}
}

func TestFindingsOfBrokenFilesAreInOrder(t *testing.T) {
	testneeds.Slow(t, "makes hundreds of files")
	for _, b := range dctest.Broken(datacenter.LayoutV6X86) {
		checkOrder(t, b.Name, b.Data, datacenter.Options{}, true)
	}
}

func TestFindingsAreInOrder(t *testing.T) {
	count := 150
	if testneeds.Quick() {
		count = 25
	}
	files, faulty := 0, 0
	damaged(count, func(data []byte, rng *rand.Rand) {
		files++
		if checkOrder(t, "damaged", data, datacenter.Options{BlockSize: 1 << 12}, rng.IntN(2) == 0) > 0 {
			faulty++
		}
	})
	if faulty < files/2 {
		t.Errorf("only %d of %d files are faulty", faulty, files)
	}
}

// stoppingBlocks cancels a context when the last of a number of blocks is asked for.
type stoppingBlocks struct {
	cache.All
	left   atomic.Int64
	cancel func()
}

func (b *stoppingBlocks) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	if b.left.Add(-1) == 0 {
		b.cancel()
	}
	return b.All.Block(ctx, n, load)
}

// TestVerifyIsCancelled checks that a check that was cancelled says so, and nothing untrue.
func TestVerifyIsCancelled(t *testing.T) {
	m := dctest.NewImage(dctest.SmallDoc(datacenter.LayoutV6X64), dctest.Options{})
	m.Data[m.Footer] ^= 1
	second := m.Attributes.Segments[0].Elements + 5*m.Attributes.Size
	m.Data[second+1] ^= 0x70 // a name
	data := bytes.NewReader(m.Seal(dctest.SealOptions{}))
	want, err := verify.InOrder(t.Context(), data, data.Size(), datacenter.Options{}, false)
	if err != nil || len(want) < 2 {
		t.Fatalf("findings %v, %v, want several", want, err)
	}
	for at := int64(1); ; at = at*5/4 + 1 {
		ctx, cancel := context.WithCancel(t.Context())
		blocks := &stoppingBlocks{cancel: cancel}
		blocks.left.Store(at)
		var all []verify.Finding
		var last error
		for f, err := range verify.File(ctx, data, data.Size(), datacenter.Options{Blocks: blocks, BlockSize: 1 << 10}) {
			if last = err; err == nil {
				all = append(all, f)
			}
		}
		cancelled := blocks.left.Load() <= 0
		cancel()
		if len(all) > len(want) || !slices.Equal(all, want[:len(all)]) {
			t.Errorf("cancelled at block %d: %v, want a start of %v", at, all, want)
		}
		if cancelled != errors.Is(last, context.Canceled) {
			t.Errorf("at block %d: cancelled %t, %v", at, cancelled, last)
		}
		if !cancelled {
			break
		}
	}
}

// TestTimestamp checks that only VerifyStrict reports a time in the header, which the format has
// room for and novadrop-dc refuses.
func TestTimestamp(t *testing.T) {
	for time, strict := range map[float64]bool{-1: false, 0.5: true, 1573747200: true, math.NaN(): true} {
		data := dctest.Build(dctest.Doc{Timestamp: time, Root: dctest.Root()}, dctest.Options{})
		r := bytes.NewReader(data)
		for finding, err := range verify.File(t.Context(), r, r.Size(), datacenter.Options{}) {
			t.Errorf("%v: %v, %v", time, finding, err)
		}
		found := dctest.StrictFindings(t, data, 5)
		if strict != (len(found) == 1 && found[0].Off == 4 && strings.Contains(found[0].What, "want -1")) || !strict && len(found) > 0 {
			t.Errorf("%v: %v", time, found)
		}
	}
}
