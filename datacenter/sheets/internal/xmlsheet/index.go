package xmlsheet

// few is how many names are faster to search in a list than in a map.
const few = 6

// attributeIndex finds attributes of a node by their names. It is built when it is needed,
// and only for more than a few attributes.
type attributeIndex struct {
	at   map[string]int
	made bool
}

// find returns the place of an attribute, or -1.
func (x *attributeIndex) find(attrs []Attribute, name []byte) int {
	if len(attrs) <= few {
		for i := range attrs {
			if string(attrs[i].Name) == string(name) {
				return i
			}
		}
		return -1
	}
	if !x.made {
		x.make(attrs)
	}
	if i, ok := x.at[string(name)]; ok {
		return i
	}
	return -1
}

func (x *attributeIndex) make(attrs []Attribute) {
	x.made = true
	x.at = make(map[string]int, len(attrs)) // clearing one that was large takes long each time
	for i := range attrs {
		x.at[string(attrs[i].Name)] = i
	}
}
