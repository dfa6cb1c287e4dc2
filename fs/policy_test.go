//go:build linux

package fs

import (
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

var testTime = time.Unix(1_500_000_000, 0)

func TestNameOnlyFollowsLookups(t *testing.T) {
	var o nameOnly
	if o.next(false) {
		t.Error("by name only although there is room")
	}
	if !o.next(true) {
		t.Error("in full although crowded and nobody asked")
	}
	o.sawLookup()
	full := 0
	for !o.next(true) {
		full++
	}
	if full != fullPerLookup {
		t.Errorf("%d in full after one LOOKUP, want %d", full, fullPerLookup)
	}
	for range 10 * fullCredit {
		o.sawLookup()
	}
	if c := o.credit.Load(); c != fullCredit {
		t.Errorf("the credit is %d, want at most %d", c, fullCredit)
	}
}

// store records what was primed.
type store struct {
	data   map[uint64]string
	status fuse.Status
}

func (s *store) InodeNotifyStoreCache(node uint64, _ int64, data []byte) fuse.Status {
	s.data[node] = string(data)
	return s.status
}

func TestPrimeStoresSmallFilesOnCredit(t *testing.T) {
	var b nodes.Builder
	small := b.File(nodes.Root, "small", "text\n")
	b.File(nodes.Root, "empty", "")
	b.File(nodes.Root, "large", string(make([]byte, primeMax+1)))
	b.Dir(nodes.Root, "dir")
	last := b.File(nodes.Root, "last", string(make([]byte, primeMax)))
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	m := newMount(tree, Options{}.withDefaults())
	s := &store{data: map[uint64]string{}}
	buf := make([]byte, primeMax)

	m.primer.sawListing(nodes.Root)
	if len(m.primer.queue) != 0 {
		t.Error("a listing is primed although nothing was read")
	}
	m.primer.sawRead()
	m.primer.sawListing(nodes.Root)
	if len(m.primer.queue) != 1 {
		t.Error("a listing is not primed although files are read")
	}
	m.primer.prime(m, s, nodes.Root, buf, 0)
	if len(s.data) != 2 || s.data[uint64(small)] != "text\n" || len(s.data[uint64(last)]) != primeMax {
		t.Errorf("primed %d files", len(s.data))
	}
	if c := m.primer.credit.Load(); c != primePerRead-2 {
		t.Errorf("the credit is %d", c)
	}
	clear(s.data)
	m.primer.credit.Store(1)
	m.primer.prime(m, s, nodes.Root, buf, 0)
	if len(s.data) != 1 {
		t.Errorf("primed %d files on a credit of 1", len(s.data))
	}
}

func TestPrimeLeavesProbes(t *testing.T) {
	var b nodes.Builder
	for i := range 10 * primeProbe {
		b.File(nodes.Root, testName(i), "x")
	}
	tree, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	m := newMount(tree, Options{}.withDefaults())
	m.primer.credit.Store(primeCredit)
	s := &store{data: map[uint64]string{}}
	m.primer.prime(m, s, nodes.Root, make([]byte, primeMax), 0)
	if want := 10 * (primeProbe - 1); len(s.data) != want {
		t.Errorf("primed %d of %d files, want %d", len(s.data), 10*primeProbe, want)
	}
}
