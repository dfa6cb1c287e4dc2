package sheets

import (
	"math"
	"sync"

	"lorefs/datacenter/sheets/internal/spell"
)

// nameIndex finds the names of the file by their texts.
type nameIndex struct {
	once   sync.Once
	byText map[string]nameID
}

func (x *nameIndex) get(v *vocabulary) map[string]nameID {
	x.once.Do(func() {
		x.byText = make(map[string]nameID, len(v.names))
		for i := range v.names[1:] {
			x.byText[v.names[i+1].Raw] = nameID(i + 1)
		}
	})
	return x.byText
}

// planNames gives numbers to the names that a plan meets. Those of the file have
// their own; what a text makes up is forgotten with the plan.
type planNames struct {
	of   map[string]nameID // the file's
	voc  *vocabulary
	own  map[string]nameID
	text []string // of own, by their numbers
}

// firstOwn is the number of the first name that is not the file's.
const firstOwn nameID = math.MaxUint16 + 1

// id is that of a name of the text.
func (x *planNames) id(name []byte) nameID {
	if id, ok := x.of[string(name)]; ok {
		return id
	}
	if id, ok := x.own[string(name)]; ok {
		return id
	}
	if x.own == nil {
		x.own = map[string]nameID{}
	}
	id := firstOwn + nameID(len(x.text))
	x.text = append(x.text, string(name))
	x.own[x.text[len(x.text)-1]] = id
	return id
}

// stored is the id of a name of the draft.
func (x *planNames) stored(index uint16, name string) nameID {
	if int(index) < len(x.voc.names) {
		return nameID(index)
	}
	return x.id([]byte(name))
}

// name is the text of an id.
func (x *planNames) name(id nameID) string {
	if id < firstOwn {
		return x.voc.names[id].Raw
	}
	return x.text[id-firstOwn]
}

// compare is [spell.Compare].
func (x *planNames) compare(a, b nameID) int {
	if a < firstOwn && b < firstOwn {
		return int(x.voc.rank[a]) - int(x.voc.rank[b])
	}
	return spell.Compare(x.name(a), x.name(b))
}
