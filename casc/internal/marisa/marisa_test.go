package marisa

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const magic = "We love Marisa.\x00"

// TestOtherBuilder reads tries that marisa-build 0.2.6 made of testdata/words.txt, in one
// to three levels, with tails of both kinds, and a trie that a later version made of more
// words in the order of labels. The .txt beside each has the numbers of the words.
func TestOtherBuilder(t *testing.T) {
	files, err := filepath.Glob("testdata/*.mar")
	if err != nil || len(files) != 7 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(file, ".mar") + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		trie, n, err := Parse(data[len(magic):])
		if err != nil || n != len(data)-len(magic) {
			t.Errorf("%s: %d of %d bytes, %v", file, n, len(data)-len(magic), err)
			continue
		}
		var got strings.Builder
		i := 0
		for key, err := range trie.Keys() {
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			got.Write(append(key, '\n'))
			i++
		}
		if got.String() != string(want) || i != trie.Len() {
			t.Errorf("%s: %d words:\n%s", file, trie.Len(), got.String())
		}
	}
}

func TestDamage(t *testing.T) {
	data, err := os.ReadFile("testdata/m3t.mar")
	if err != nil {
		t.Fatal(err)
	}
	data = data[len(magic):]
	for i := range data {
		if _, _, err := Parse(data[:i]); err == nil {
			t.Fatalf("cut at %d it is still whole", i)
		} else if _, ok := errors.AsType[*FormatError](err); !ok {
			t.Fatalf("cut at %d: a %T", i, err)
		}
	}
	for i := range data {
		bad := []byte(string(data))
		bad[i] ^= 0xff
		trie, _, err := Parse(bad)
		if err != nil {
			continue
		}
		for _, err := range trie.Keys() { // whatever they are, it ends
			if err != nil {
				break
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"m1t", "m2b", "m3t"} {
		data, err := os.ReadFile("testdata/" + name + ".mar")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[len(magic):])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		trie, _, err := Parse(data)
		if err != nil {
			return
		}
		n := 0
		for _, err := range trie.Keys() {
			if err != nil {
				return
			}
			n++
		}
		if n != trie.Len() {
			t.Fatalf("%d strings, not %d", n, trie.Len())
		}
	})
}
