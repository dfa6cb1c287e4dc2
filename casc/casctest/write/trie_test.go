package write

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lorefs/casc/internal/marisa"
)

// trieParts runs through the parts of a trie as they stand in a file.
type trieParts struct {
	t    *testing.T
	data []byte
}

func (p *trieParts) u32() uint32 {
	v := binary.LittleEndian.Uint32(p.data)
	p.data = p.data[4:]
	return v
}

func (p *trieParts) vector() []byte {
	n := int(binary.LittleEndian.Uint64(p.data))
	v := p.data[8 : 8+n]
	p.data = p.data[8+(n+7)&^7:]
	return v
}

// rowOfBits is a row of bits with its tables.
type rowOfBits struct {
	set                  []bool
	ranks, zeros, placed []byte
}

func (p *trieParts) bits() (r rowOfBits) {
	units, count, ones := p.vector(), p.u32(), p.u32()
	n := uint32(0)
	for i := range int(count) {
		s := units[i/8]&(1<<(i%8)) != 0
		r.set = append(r.set, s)
		if s {
			n++
		}
	}
	if n != ones {
		p.t.Fatalf("%d ones, stated are %d", n, ones)
	}
	r.ranks, r.zeros, r.placed = p.vector(), p.vector(), p.vector()
	return r
}

// trie returns the rows of bits of a trie and of those in it, and what is behind.
func (p *trieParts) trie() (rows []rowOfBits) {
	rows = append(rows, p.bits(), p.bits(), p.bits())
	links := rows[2]
	p.vector()           // labels
	p.vector()           // extras
	p.data = p.data[16:] // their widths and number
	tail := p.vector()
	rows = append(rows, p.bits())
	if slices.Contains(links.set, true) && len(tail) == 0 {
		rows = append(rows, p.trie()...)
	}
	p.vector() // cache
	p.u32()
	p.u32()
	return rows
}

// TestTablesOfOtherBuilder makes the tables of tries from marisa-build anew, and expects
// the same bytes.
func TestTablesOfOtherBuilder(t *testing.T) {
	files, err := filepath.Glob("../../internal/marisa/testdata/*.mar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	largest := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := &trieParts{t, data[len("We love Marisa.\x00"):]}
		for i, r := range p.trie() {
			largest = max(largest, len(r.set))
			name := fmt.Sprintf("%s, row %d of %d bits", filepath.Base(file), i, len(r.set))
			if len(r.ranks) == 0 {
				if len(r.set) > 0 && i%4 != 3 {
					t.Errorf("%s has no ranks", name)
				}
				continue // nobody counts in the ends of a tail
			}
			if got := trieRanks(r.set); !bytes.Equal(got, r.ranks) {
				t.Errorf("%s: ranks % x, want % x", name, got, r.ranks)
			}
			if got := triePlaces(r.set, false); len(r.zeros) > 0 && !bytes.Equal(got, r.zeros) {
				t.Errorf("%s: zeros % x, want % x", name, got, r.zeros)
			}
			if got := triePlaces(r.set, true); len(r.placed) > 0 && !bytes.Equal(got, r.placed) {
				t.Errorf("%s: ones % x, want % x", name, got, r.placed)
			}
			if has, want := [2]bool{len(r.zeros) > 0, len(r.placed) > 0}, [][2]bool{{true, true}, {false, true}, {}}; i < 3 && has != want[i] {
				t.Errorf("%s: has tables %v", name, has)
			}
		}
		if len(p.data) != 0 {
			t.Errorf("%s: %d bytes are left", file, len(p.data))
		}
	}
	if largest <= trieBlock {
		t.Errorf("no row has more than %d bits", largest)
	}
}

// TestTables looks up all ranks and places in the tables of rows of any length, and
// compares them with a count of the bits.
func TestTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 63, 64, 65, 511, 512, 513, 1024, 1500, 4096, 5000} {
		for _, part := range []float64{0, 0.01, 0.5, 0.99, 1} {
			set := make([]bool, n)
			for i := range set {
				set[i] = rng.Float64() < part
			}
			ranks, before := trieRanks(set), [2]int{}
			places := [2][]byte{triePlaces(set, false), triePlaces(set, true)}
			for i := range n + 1 {
				if i%64 == 0 && rankAt(ranks, i) != before[1] {
					t.Fatalf("%d bits, %v of them ones: rank of %d is %d, want %d", n, part, i, rankAt(ranks, i), before[1])
				}
				if i == n {
					break
				}
				bit := 0
				if set[i] {
					bit = 1
				}
				if k := before[bit]; k%512 == 0 && binary.LittleEndian.Uint32(places[bit][k/512*4:]) != uint32(i) {
					t.Fatalf("%d bits, %v of them ones: place of %d number %d is wrong", n, part, bit, k)
				}
				before[bit]++
			}
			for bit, table := range places {
				if got := len(table); got != 4*((before[bit]+511)/512+1) || binary.LittleEndian.Uint32(table[got-4:]) != uint32(n) {
					t.Errorf("%d bits, %v of them ones: table %d is % x", n, part, bit, table)
				}
			}
		}
	}
}

// rankAt returns the number of ones before bit i, where a word begins.
func rankAt(ranks []byte, i int) int {
	row := ranks[i/512*12:]
	within := binary.LittleEndian.Uint64(row[4:])
	at, width := 0, 0
	for word := range i / 64 % 8 {
		at += width
		width = []int{7, 8, 8, 9, 9, 9, 9}[word]
	}
	n := int(binary.LittleEndian.Uint32(row))
	if width > 0 {
		n += int(within >> at & (1<<width - 1))
	}
	return n
}

// TestTrieTables looks for the tables in written tries of more words than fit into one
// block.
func TestTrieTables(t *testing.T) {
	var words []string
	for i := range 700 {
		words = append(words, fmt.Sprintf("%x/%d.txt", i%13, i*i))
	}
	data, numbers := trie(words)
	rows := (&trieParts{t, data}).trie()
	if len(rows) != 4 || len(rows[0].set) < 4*trieBlock {
		t.Fatalf("%d rows, the first of %d bits", len(rows), len(rows[0].set))
	}
	for i, r := range rows[:3] {
		if !bytes.Equal(r.ranks, trieRanks(r.set)) || len(r.zeros) > 0 != (i == 0) || len(r.placed) > 0 != (i < 2) {
			t.Errorf("row %d: %d bytes of ranks, %d and %d of places", i, len(r.ranks), len(r.zeros), len(r.placed))
		}
	}
	parsed, n, err := marisa.Parse(data)
	if err != nil || n != len(data) || parsed.Len() != len(words) {
		t.Fatalf("%d of %d bytes, %v", n, len(data), err)
	}
	i := 0
	for word, err := range parsed.Keys() {
		if err != nil || numbers[strings.Clone(string(word))] != i {
			t.Errorf("word %d is %q, %v", i, word, err)
		}
		i++
	}
	// The first level is the children of the root, and the cache is empty.
	foot := data[len(data)-8:]
	if got := binary.LittleEndian.Uint32(foot); got != 13 {
		t.Errorf("%d nodes of the first level", got)
	}
	if cache := data[len(data)-8-16:][:12]; !bytes.Equal(cache[:8], bytes.Repeat([]byte{0xFF}, 8)) {
		t.Errorf("the cache is % x", cache)
	}
}
