package sheets_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets"
	"lorefs/internal/testneeds"
)

// openFixture opens a data center of the fixtures.
func openFixture(t testing.TB, name string, opts datacenter.Options) *datacenter.File {
	t.Helper()
	r, err := os.Open(testneeds.Fixture(t, "datacenter/"+name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	info, err := r.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := datacenter.Open(t.Context(), r, info.Size(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newSource(t testing.TB, f *datacenter.File, d *datacenter.Draft, opts sheets.Options) *sheets.Source {
	t.Helper()
	s, err := sheets.New(f, d, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sums reads a list of SHA-256 sums by file name.
func sums(t testing.TB, name string) map[string]string {
	t.Helper()
	r, err := os.Open(testneeds.Fixture(t, "datacenter/"+name))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all := map[string]string{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		sum, rest, _ := strings.Cut(lines.Text(), " ")
		file, _, _ := strings.Cut(rest, " ")
		all[file] = sum
	}
	return all
}

// job is one sheet of a family.
type job struct {
	family *sheets.Family
	sheet  sheets.Sheet
}

// everySheet calls do for all sheets, on all processors.
func everySheet(s *sheets.Source, do func(job) error) error {
	jobs := make(chan job)
	var errs errorList
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for j := range jobs {
				errs.add(do(j))
			}
		})
	}
	for _, f := range s.Families() {
		for sheet := range f.Sheets(0) {
			jobs <- job{f, sheet}
		}
	}
	close(jobs)
	wg.Wait()
	return errors.Join(errs.all...)
}

type errorList struct {
	mu  sync.Mutex
	all []error
}

func (l *errorList) add(err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, err)
}

// Every sheet has the bytes that novadrop-dc wrote, by the sums that were taken of
// them.
//
// The names in the small files are in the order that novadrop would give to that
// part of the data, and so are the attributes in our sheets; those of the sums are in
// the order of all the data. p100 has most of these names in the order of all, but not
// those that came with later patches: so more sheets have their sum once their
// attributes are in the order of p100, and not all. The others were compared by hand
// with the public files that the sums are of: all 620 differ in that order only.
func TestBytesOfNovadropInSmallFiles(t *testing.T) {
	rank := map[string]int{}
	wantReordered := 0
	if !testing.Short() { // the large file takes its time to open
		wantReordered = 391
		for i, name := range openFixture(t, "p100_x64.dat", datacenter.Options{}).Names() {
			rank[name] = i
		}
	}
	s := newSource(t, openFixture(t, "p115_small_x64.dat", datacenter.Options{}), nil, sheets.Options{})
	same, reordered, differ := compareSums(t, s, sums(t, "p115_small.sheets.sha256"), func(text []byte) []byte {
		if len(rank) == 0 {
			return text
		}
		return reorder(text, rank)
	})
	if same != 595 || reordered != wantReordered || len(differ) != 620-wantReordered {
		t.Errorf("%d same, %d but for the order of attributes, %d not: want 595, %d and the rest of 1,215",
			same, reordered, len(differ), wantReordered)
	}
	if testing.Short() {
		return
	}
	other := newSource(t, openFixture(t, "p115_small_x86.dat", datacenter.Options{}), nil, sheets.Options{})
	if !maps.Equal(texts(t, s), texts(t, other)) {
		t.Error("the 32-bit file has other sheets")
	}
}

// reorder sorts the attributes of all tags. Only those have a < or a >.
func reorder(text []byte, rank map[string]int) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		open := bytes.IndexByte(text, '<')
		if open < 0 {
			break
		}
		end := open + bytes.IndexByte(text[open:], '>')
		out = appendReordered(append(out, text[:open]...), text[open:end], rank)
		text = text[end:]
	}
	return append(out, text...)
}

func appendReordered(out, tag []byte, rank map[string]int) []byte {
	var first, attrs, last [][]byte
	at := bytes.IndexByte(tag, ' ')
	for at >= 0 && at+1 < len(tag) && tag[at+1] != '/' {
		value := at + bytes.Index(tag[at:], []byte(`="`)) + 2
		next := value + bytes.IndexByte(tag[value:], '"') + 1
		switch a := tag[at:next]; {
		case bytes.HasPrefix(a, []byte(" xmlns:xsi=")) || bytes.HasPrefix(a, []byte(" xsi:")):
			first = append(first, a)
		case bytes.HasPrefix(a, []byte(" xmlns=")):
			last = append(last, a)
		default:
			attrs = append(attrs, a)
		}
		if at = next; at == len(tag) {
			break
		}
	}
	if len(attrs) < 2 {
		return append(out, tag...)
	}
	name := func(a []byte) string { return string(a[1:bytes.IndexByte(a, '=')]) }
	slices.SortStableFunc(attrs, func(a, b []byte) int { return rank[name(a)] - rank[name(b)] })
	out = append(out, tag[:bytes.IndexByte(tag, ' ')]...)
	for _, a := range slices.Concat(first, attrs, last) {
		out = append(out, a...)
	}
	return append(out, tag[at:]...)
}

// otherBytes are the sheets of p100 whose sums are of other bytes, by what those have
// otherwise. All 68 were compared by hand with the public files that the sums are of:
// they hold the same nodes, attributes and values. The order of attributes is that of
// the file's names, which the packer of p100 made of the sheets it had, with 54 large
// ones missing; the rest was edited by hand upstream.
var otherBytes = map[string]map[string]string{
	"the order of attributes": {
		"Area": "171", "ServantSkill": "0", "SkillPolishingList": "0", "SkillToolTipChain": "0",
		"SkillData": "55 56 57 58 59 60 61 62 63 64 65 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 126",
	},
	"the order of attributes, and 256.000000 for 256": {
		"Area": "68 156 176 178 179 186 187 190 217 224 231 234 235 236 239 240 241 242 249 250 257 282 284 286 290",
	},
	"the order of attributes, and tabs":                         {"Area": "214 215 220 258", "NewWorldMapData": "0"},
	"the order of attributes, 256.000000 for 256, and tabs":     {"Area": "154 167 238 246"},
	"the order of attributes, 256.000000 for 256, and comments": {"Area": "175"},
	"the order of attributes, and comments":                     {"Area": "233"},
	"tabs":                                                      {"TeleportData": "0"},
}

func TestBytesOfNovadropInLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	s := newSource(t, openFixture(t, "p100_x64.dat", datacenter.Options{}), nil, sheets.Options{})
	_, _, differ := compareSums(t, s, sums(t, "p100.sheets.sha256"), nil)
	var want []string
	for _, sheets := range otherBytes {
		for name, numbers := range sheets {
			for n := range strings.FieldsSeq(numbers) {
				want = append(want, fmt.Sprintf("%s/%s-%05s.xml", name, name, n))
			}
		}
	}
	slices.Sort(want)
	if !slices.Equal(differ, want) {
		t.Errorf("%d sheets differ: %v\nwant %d: %v", len(differ), differ, len(want), want)
	}
}

// compareSums encodes every sheet and compares it with its sum. What differs is
// tried again as other gives it.
func compareSums(t *testing.T, s *sheets.Source, want map[string]string, other func([]byte) []byte) (same, changed int, differ []string) {
	var mu sync.Mutex
	err := everySheet(s, func(j job) error {
		var text bytes.Buffer
		n, err := s.WriteSheet(t.Context(), &text, j.sheet)
		if err != nil {
			return err
		}
		size, err := s.Size(t.Context(), j.sheet)
		name := j.family.File + "/" + j.family.SheetFile(j.sheet.Ordinal)
		if n != size {
			t.Errorf("%s has %d bytes, its size is %d", name, n, size)
		}
		mu.Lock()
		sum := want[name]
		delete(want, name)
		mu.Unlock()
		asIs := sumOf(text.Bytes()) == sum
		asOther := !asIs && other != nil && sumOf(other(text.Bytes())) == sum
		mu.Lock()
		defer mu.Unlock()
		switch {
		case asIs:
			same++
		case asOther:
			changed++
		default:
			differ = append(differ, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) > 0 {
		t.Errorf("%d sheets of the list are not there", len(want))
	}
	slices.Sort(differ)
	return same, changed, differ
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
