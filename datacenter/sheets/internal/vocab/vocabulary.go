package vocab

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
)

// NameID is the index of a name in the file, or a higher number for a name that only a draft
// has. It stays the same as long as the Source is in use.
type NameID uint32

// KeyID is the number of a key definition; 0 is the empty one.
type KeyID uint32

// Vocabulary spells names and key definitions.
type Vocabulary struct {
	// Names has the names of the file, from 1 on, and Rank their order by [spell.Compare].
	// Value is __value__, or 0 if the file has no such name.
	Names []spell.Spelling
	Rank  []uint16
	Value NameID
	// FileKeys has the KeyID of each key definition of the file.
	FileKeys []KeyID

	once sync.Once
	// texts has the names of the file by their texts. Only planners need it.
	texts map[string]NameID

	mu       sync.RWMutex // guards the fields below
	newNames []spell.Spelling
	newIndex map[string]NameID
	keys     []KeySpelling
	keyIndex map[string]KeyID
}

// KeySpelling is a key definition as spelled in dc:keys.
type KeySpelling struct {
	Def     datacenter.KeyDefinition
	Text    string
	Escaped bool
}

// New returns a Vocabulary of f. It fails if two names are the same text, since nobody could
// read such sheets.
func New(f *datacenter.File) (*Vocabulary, error) {
	texts := f.Names()
	v := &Vocabulary{
		Names: make([]spell.Spelling, len(texts)+1), Rank: make([]uint16, len(texts)+1),
		newIndex: map[string]NameID{}, keyIndex: map[string]KeyID{},
	}
	order := make([]uint16, 0, len(texts))
	for i, text := range texts {
		v.Names[i+1] = spell.Name(text)
		order = append(order, uint16(i+1))
		if text == spell.ValueName {
			v.Value = NameID(i + 1)
		}
	}
	slices.SortFunc(order, func(a, b uint16) int { return spell.Compare(v.Names[a].Raw, v.Names[b].Raw) })
	for i, name := range order {
		v.Rank[name] = uint16(i)
		if i > 0 && v.Names[name].Raw == v.Names[order[i-1]].Raw {
			return nil, fmt.Errorf("datacenter: names %d and %d are both %q: want each once", order[i-1], name, v.Names[name].Raw)
		}
	}
	v.Key(nil)
	for _, def := range f.KeyDefinitions() {
		v.FileKeys = append(v.FileKeys, v.Key(def))
	}
	return v, nil
}

// ByText returns the names of the file by their texts. The caller must not change it.
func (v *Vocabulary) ByText() map[string]NameID {
	v.once.Do(func() {
		v.texts = make(map[string]NameID, len(v.Names))
		for i := range v.Names[1:] {
			v.texts[v.Names[i+1].Raw] = NameID(i + 1)
		}
	})
	return v.texts
}

// Spelling returns the spelling of a name.
func (v *Vocabulary) Spelling(name NameID) *spell.Spelling {
	if int(name) < len(v.Names) {
		return &v.Names[name]
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	return &v.newNames[int(name)-len(v.Names)]
}

// DraftName returns the NameID of a name of a draft. It needs the text, since a draft's
// index of a new name may change its meaning.
func (v *Vocabulary) DraftName(index uint16, text string) NameID {
	if int(index) < len(v.Names) {
		return NameID(index)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if id, ok := v.newIndex[text]; ok {
		return id
	}
	id := NameID(len(v.Names) + len(v.newNames))
	// Callers may hold pointers to older spellings, which stay valid.
	v.newNames = append(v.newNames, spell.Name(text))
	v.newIndex[text] = id
	return id
}

// StoredKeys returns the key definition of a node of the file.
func (v *Vocabulary) StoredKeys(n datacenter.Node) KeyID {
	if i := int(n.KeyIndex()); i < len(v.FileKeys) {
		return v.FileKeys[i]
	}
	return 0
}

// Key returns the KeyID of a definition.
func (v *Vocabulary) Key(def datacenter.KeyDefinition) KeyID {
	name := strings.Join(def, "\x00") // no name has a NUL
	v.mu.Lock()
	defer v.mu.Unlock()
	if id, ok := v.keyIndex[name]; ok && len(v.keys[id].Def) == len(def) {
		return id
	}
	id := KeyID(len(v.keys))
	k := KeySpelling{Def: slices.Clone(def)}
	spelled := make([]string, len(def))
	for i, text := range def {
		s := spell.Name(text)
		escaped := false
		spelled[i], escaped = s.Attribute()
		k.Escaped = k.Escaped || escaped
	}
	k.Text = strings.Join(spelled, " ")
	v.keys = append(v.keys, k)
	v.keyIndex[name] = id
	return id
}

// KeySpelling returns the spelling of a definition.
func (v *Vocabulary) KeySpelling(id KeyID) KeySpelling {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.keys[id]
}
