package protocol

// program says how the fields of a scope become JSON: operation after operation, without the
// objects that the fields are in, whose names and braces are in the text before each value.
type program struct {
	ops  []op
	tail string // the text behind the last value
	// room is how many bytes must be free in front of each op: those for all texts and all
	// values but those of any length, and shortText.
	room int
}

// shortText is the length up to which texts are copied with what follows them, because copying
// always as much takes less time.
const shortText = 16

// op is one value, with the text before it.
type op struct {
	text string
	// begin is the text, up to shortText bytes.
	begin [shortText]byte
	// typ is how the value is read. TypeVec3FA is one coordinate here; the other types of
	// several numbers are an op for each of them.
	typ Type
	// at and countAt are as in member.
	at, countAt int
	// each is for the elements of an array, or the items of T[n], of which there are n, each
	// stride bytes behind the one before.
	each      *program
	n, stride int
}

// newProgram makes the program for a value and the text before it.
func newProgram(m *member, text string) *program {
	b := programmer{text: []byte(text)}
	b.value(m)
	b.program.tail = string(b.text)
	b.program.room += len(b.text) + shortText
	return &b.program
}

// programmer writes a program. text is what comes before the next value.
type programmer struct {
	program program
	text    []byte
}

func (b *programmer) value(m *member) {
	switch m.typ {
	case TypeObject:
		b.text = append(b.text, '{')
		for i, sub := range m.members {
			if i > 0 {
				b.text = append(b.text, ',')
			}
			b.text = append(b.text, sub.key...)
			b.value(sub)
		}
		b.text = append(b.text, '}')
	case TypeVec3:
		b.numbers(TypeFloat, m.at, "x", "y", "z")
	case TypeVec3FA:
		b.numbers(TypeVec3FA, m.at, "x", "y", "z")
	case TypeCustomize:
		b.numbers(TypeByte, m.at, customizeKeys[:]...)
	case TypeArray:
		b.op(op{typ: TypeArray, at: m.at, countAt: m.countAt, each: m.elem.json})
	case TypeFixed:
		b.op(op{typ: TypeFixed, at: m.at, each: newProgram(m.item, ""), n: m.n, stride: m.item.stride})
	default:
		b.op(op{typ: m.typ, at: m.at, countAt: m.countAt})
	}
}

// numbers adds an object of numbers that lie one behind the other.
func (b *programmer) numbers(typ Type, at int, keys ...string) {
	size := types[typ].size
	if typ == TypeVec3FA {
		size /= len(keys)
	}
	for i, key := range keys {
		b.text = append(b.text, "{,"[min(i, 1)], '"')
		b.text = append(append(b.text, key...), `":`...)
		b.op(op{typ: typ, at: at + i*size})
	}
	b.text = append(b.text, '}')
}

func (b *programmer) op(o op) {
	o.text, b.text = string(b.text), b.text[:0]
	copy(o.begin[:], o.text)
	b.program.room += len(o.text)
	switch o.typ {
	case TypeSkillID, TypeSkillID32:
		b.program.room += skillText
	default:
		b.program.room += maxNumber
	}
	b.program.ops = append(b.program.ops, o)
}
