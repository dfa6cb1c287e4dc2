package plan

import (
	"math"

	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/vocab"
)

// planNames numbers the names in a plan. Names of the file keep their numbers; new names of
// the text are dropped with the plan.
type planNames struct {
	of   map[string]vocab.NameID // names of the file
	voc  *vocab.Vocabulary
	own  map[string]vocab.NameID
	text []string // new names, by their numbers
}

// firstOwn is the number of the first new name.
const firstOwn vocab.NameID = math.MaxUint16 + 1

// id returns the number of a name of the text.
func (x *planNames) id(name []byte) vocab.NameID {
	if id, ok := x.of[string(name)]; ok {
		return id
	}
	if id, ok := x.own[string(name)]; ok {
		return id
	}
	if x.own == nil {
		x.own = map[string]vocab.NameID{}
	}
	id := firstOwn + vocab.NameID(len(x.text))
	x.text = append(x.text, string(name))
	x.own[x.text[len(x.text)-1]] = id
	return id
}

// stored returns the number of a name of the draft.
func (x *planNames) stored(index uint16, name string) vocab.NameID {
	if int(index) < len(x.voc.Names) {
		return vocab.NameID(index)
	}
	return x.id([]byte(name))
}

// name returns the text of a name.
func (x *planNames) name(id vocab.NameID) string {
	if id < firstOwn {
		return x.voc.Names[id].Raw
	}
	return x.text[id-firstOwn]
}

// compare is [spell.Compare].
func (x *planNames) compare(a, b vocab.NameID) int {
	if a < firstOwn && b < firstOwn {
		return int(x.voc.Rank[a]) - int(x.voc.Rank[b])
	}
	return spell.Compare(x.name(a), x.name(b))
}
