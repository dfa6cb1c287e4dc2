package sheets

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/spell"
)

// nameID is the index of a name in the file, or a number above those for a name
// that only a draft has. It means the same as long as the Source lives.
type nameID uint32

// keyID is a key definition likewise; 0 is the empty one.
type keyID uint32

// vocabulary is how names and key definitions are spelled.
type vocabulary struct {
	// names holds those of the file, from 1 on, and rank their order by
	// spell.Compare. value is __value__, 0 if the file has no such name.
	names []spell.Spelling
	rank  []uint16
	value nameID
	// fileKeys is the keyID for each of the file's indexes.
	fileKeys []keyID

	mu       sync.RWMutex // guards what follows
	newNames []spell.Spelling
	newIndex map[string]nameID
	keys     []keySpelling
	keyIndex map[string]keyID
}

// keySpelling is a key definition as dc:keys has it.
type keySpelling struct {
	def     datacenter.KeyDefinition
	text    string
	escaped bool
}

// newVocabulary spells what f has. Two names of one text would make sheets that
// nobody can read.
func newVocabulary(f *datacenter.File) (*vocabulary, error) {
	texts := f.Names()
	v := &vocabulary{
		names: make([]spell.Spelling, len(texts)+1), rank: make([]uint16, len(texts)+1),
		newIndex: map[string]nameID{}, keyIndex: map[string]keyID{},
	}
	order := make([]uint16, 0, len(texts))
	for i, text := range texts {
		v.names[i+1] = spell.Name(text)
		order = append(order, uint16(i+1))
		if text == spell.ValueName {
			v.value = nameID(i + 1)
		}
	}
	slices.SortFunc(order, func(a, b uint16) int { return spell.Compare(v.names[a].Raw, v.names[b].Raw) })
	for i, name := range order {
		v.rank[name] = uint16(i)
		if i > 0 && v.names[name].Raw == v.names[order[i-1]].Raw {
			return nil, fmt.Errorf("datacenter: names %d and %d are both %q: want each once", order[i-1], name, v.names[name].Raw)
		}
	}
	v.key(nil)
	for _, def := range f.KeyDefinitions() {
		v.fileKeys = append(v.fileKeys, v.key(def))
	}
	return v, nil
}

// spelling gives that of a name.
func (v *vocabulary) spelling(name nameID) *spell.Spelling {
	if int(name) < len(v.names) {
		return &v.names[name]
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	return &v.newNames[int(name)-len(v.names)]
}

// draftName gives the nameID of what a draft has. Its own indexes of new names may
// come to mean others.
func (v *vocabulary) draftName(index uint16, text string) nameID {
	if int(index) < len(v.names) {
		return nameID(index)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if id, ok := v.newIndex[text]; ok {
		return id
	}
	id := nameID(len(v.names) + len(v.newNames))
	// The spellings stay where they are, for those who hold one.
	v.newNames = append(v.newNames, spell.Name(text))
	v.newIndex[text] = id
	return id
}

// storedKeys is the key definition of a node of the file.
func (v *vocabulary) storedKeys(n datacenter.Node) keyID {
	if i := int(n.KeyIndex()); i < len(v.fileKeys) {
		return v.fileKeys[i]
	}
	return 0
}

// key gives the keyID of a definition.
func (v *vocabulary) key(def datacenter.KeyDefinition) keyID {
	name := strings.Join(def, "\x00") // which no name holds
	v.mu.Lock()
	defer v.mu.Unlock()
	if id, ok := v.keyIndex[name]; ok && len(v.keys[id].def) == len(def) {
		return id
	}
	id := keyID(len(v.keys))
	k := keySpelling{def: slices.Clone(def)}
	spelled := make([]string, len(def))
	for i, text := range def {
		s := spell.Name(text)
		escaped := false
		spelled[i], escaped = s.Attribute()
		k.escaped = k.escaped || escaped
	}
	k.text = strings.Join(spelled, " ")
	v.keys = append(v.keys, k)
	v.keyIndex[name] = id
	return id
}

func (v *vocabulary) keySpelling(id keyID) keySpelling {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.keys[id]
}
