// Package prototest makes packet definitions, packets and sessions for tests.
package prototest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing/fstest"
	"time"

	"lorefs/protocol"
	"lorefs/protocol/capture"
)

// scalars are the types of fields with one value of fixed size.
var scalars = []string{
	"bool", "byte", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double",
	"angle", "vec3", "vec3fa", "skillid", "skillid32", "customize",
}

// Definition makes the text of a definition of up to size lines, with every type. Some
// definitions list their pointers, in any order.
func Definition(r *rand.Rand, size int) string {
	g := generator{r: r, left: size, refs: r.IntN(3) == 0}
	var b strings.Builder
	g.fields(&b, "")
	return b.String()
}

type generator struct {
	r     *rand.Rand
	left  int
	names int
	refs  bool
}

// fields writes the lines of one scope or object.
func (g *generator) fields(b *strings.Builder, indent string) {
	var refs, lines []string
	for range 1 + g.r.IntN(6) {
		if g.left--; g.left < 0 {
			break
		}
		g.names++
		name := fmt.Sprintf("f%d", g.names)
		line, variable := g.field(indent, name)
		lines = append(lines, line)
		if variable {
			refs = append(refs, indent+"ref "+name+"\n")
		}
	}
	if g.refs {
		g.r.Shuffle(len(refs), func(i, j int) { refs[i], refs[j] = refs[j], refs[i] })
		b.WriteString(strings.Join(refs, ""))
	}
	b.WriteString(strings.Join(lines, ""))
}

// field makes a field and those below it.
func (g *generator) field(indent, name string) (lines string, variable bool) {
	scalar := scalars[g.r.IntN(len(scalars))]
	below := func(typ string) string {
		var b strings.Builder
		b.WriteString(indent + typ + " " + name + "\n")
		if len(indent) < 8 {
			g.fields(&b, indent+"- ")
		}
		return b.String()
	}
	switch g.r.IntN(12) {
	case 0:
		return indent + "string " + name + "\n", true
	case 1:
		return indent + "bytes " + name + "\n", true
	case 2, 3:
		return below("array"), true
	case 4:
		return below("array[interleaved]"), true
	case 5:
		return below("object"), false
	case 6:
		elem := []string{scalar, "string", "bytes", "array<" + scalar + ">"}[g.r.IntN(4)]
		return indent + "array<" + elem + "> " + name + "\n", true
	case 7:
		return fmt.Sprintf("%s%s[%d] %s\n", indent, scalar, 1+g.r.IntN(3), name), false
	}
	return indent + scalar + " " + name + "\n", false
}

// Data makes values for the fields that a definition has at a patch. It leaves out all but
// the first of several fields of one name in an object, and objects without fields.
func Data(r *rand.Rand, fields []protocol.Field, patch protocol.Patch) protocol.Object {
	o := protocol.Object{}
	for i := range fields {
		f := &fields[i]
		pointer := f.Type == protocol.TypeRef || f.Type == protocol.TypeCount || f.Type == protocol.TypeOffset
		if pointer || !f.Patches.Contains(patch) || o.Get(f.Name).Kind() != protocol.KindNone {
			continue
		}
		v := value(r, f, patch)
		if v.Kind() == protocol.KindObject && len(v.Object()) == 0 {
			continue
		}
		o = append(o, protocol.Member{Name: f.Name, Value: v})
	}
	return o
}

func value(r *rand.Rand, f *protocol.Field, patch protocol.Patch) protocol.Value {
	switch f.Type {
	case protocol.TypeObject:
		return Data(r, f.Fields, patch).Value()
	case protocol.TypeArray:
		list := make([]protocol.Value, r.IntN(4))
		for i := range list {
			if f.Elem != nil {
				list[i] = value(r, f.Elem, patch)
			} else {
				list[i] = Data(r, f.Fields, patch).Value()
			}
		}
		return protocol.List(list...)
	case protocol.TypeFixed:
		list := make([]protocol.Value, f.Len)
		for i := range list {
			list[i] = value(r, f.Elem, patch)
		}
		return protocol.List(list...)
	case protocol.TypeString:
		return protocol.Text(text(r))
	case protocol.TypeBytes:
		b := make([]byte, r.IntN(5))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return protocol.Bytes(b)
	}
	return scalar(r, f.Type)
}

// text makes a string of letters from several planes, and of halves of letters.
func text(r *rand.Rand) string {
	parts := []string{"a", "Z", "\"", "\\", "\n", "\x01", "é", "검", "\U0001f409", "\xed\xa0\x80", "<"}
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	// Two halves would be one letter.
	return strings.ReplaceAll(b.String(), "\xed\xa0\x80\xed\xb0\x80", "x")
}

func scalar(r *rand.Rand, typ protocol.Type) protocol.Value {
	n := r.Uint64() >> r.UintN(64)
	switch typ {
	case protocol.TypeBool:
		return protocol.Bool(n&1 == 1)
	case protocol.TypeByte:
		return protocol.Uint(byte(n))
	case protocol.TypeInt16:
		return protocol.Int(int16(n))
	case protocol.TypeUint16:
		return protocol.Uint(uint16(n))
	case protocol.TypeInt32:
		return protocol.Int(int32(n))
	case protocol.TypeUint32:
		return protocol.Uint(uint32(n))
	case protocol.TypeInt64:
		return protocol.Int(int64(n))
	case protocol.TypeUint64:
		return protocol.Uint(n)
	case protocol.TypeFloat:
		return protocol.Float(r.Float32() * 1000)
	case protocol.TypeDouble:
		return protocol.Double(r.NormFloat64())
	case protocol.TypeAngle:
		return protocol.Angle(n).Value()
	case protocol.TypeVec3:
		return protocol.Vec3{r.Float32(), -r.Float32(), float32(n)}.Value()
	case protocol.TypeVec3FA:
		return protocol.Vec3FA{r.Float32(), -r.Float32(), float32(n >> 40)}.Value()
	case protocol.TypeCustomize:
		return protocol.Customize{byte(n), byte(n >> 8), 7: 3}.Value()
	case protocol.TypeSkillID:
		return protocol.SkillID{ID: uint32(n) & 0xffff, Type: 1, NPC: true, HuntingZone: uint16(n) & 0xfff, Reserved: 5}.Value()
	case protocol.TypeSkillID32:
		return protocol.SkillID{ID: uint32(n) & 0x3ffffff, Type: 2, Reserved: 1}.Value()
	}
	panic("BUG: no value of " + typ.String())
}

// sessionPatch is the patch of Revision.
const sessionPatch = 9802

// Revision is the client revision of the map in Files.
const Revision = "373824"

// Files returns a small folder of definitions and maps, some of them wrong.
func Files() fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"defs/S_CHAT.2.def": "# majorPatchVersion < 90\nint32 channel\nstring message\n",
		"defs/S_CHAT.3.def": "# majorPatchVersion >= 90\nstring author\nstring message\nint32 channel\nuint64 gameId\nbool gm\n",
		"defs/S_SPAWN_USER.15.def": "array items\n- int32 slot\n- array<int32> glyphs\nstring name\nbytes details\nuint64 gameId\n" +
			"vec3 loc\nangle w\nskillid skill\ncustomize appearance\n",
		"defs/C_PLAYER_LOCATION.5.def":   "vec3 loc\nangle w\nint16 look\nvec3 dest\nint32 type\nuint32 time\n",
		"defs/S_PARTY_MEMBER_LIST.7.def": "@include S_CHAT.3.def\nbool raid\n",
		"defs/S_WRONG.1.def":             "uint x\n",
		"defs/S_UNUSED.1.def":            "",
		"defs/C_SCRIPT.1.js":             "throw 1",
		"map/protocol." + Revision + ".map": "C_PLAYER_LOCATION 5001\nS_CHAT 5002\nS_SPAWN_USER 5003\nS_PARTY_MEMBER_LIST 5004\n" +
			"S_WRONG 5005\nS_LOGIN 5006 # without a definition\n",
		"map/protocol.1.map":      "S_CHAT = 7\n",
		"map/sysmsg.98.map":       "SMT_UNDEFINED 0\n",
		"map/sysmsg.99.map":       "SMT_UNDEFINED\n",
		"map/revisions.json":      `{"` + Revision + `":"eu-98.02"}`,
		"old/map/sysmsg.98.map":   "SMT_UNDEFINED 1\n",
		"old/map/deprecated.json": `{"S_CHAT":{"2":{"max":90,"readable":false}}}`,
	} {
		files[name] = &fstest.MapFile{Data: []byte(text), ModTime: time.Unix(1_600_000_000, 0)}
	}
	return files
}

// codes are those of the map of Files, and of a packet that it does not have.
var codes = map[string]uint16{
	"C_PLAYER_LOCATION": 5001, "S_CHAT": 5002, "S_SPAWN_USER": 5003, "S_PARTY_MEMBER_LIST": 5004,
	"S_WRONG": 5005, "S_LOGIN": 5006, "5007": 5007, "C_CHECK_VERSION": 19900,
}

// names are the packets of a session, in turn.
var names = []string{
	"C_CHECK_VERSION", "S_CHAT", "S_SPAWN_USER", "C_PLAYER_LOCATION", "S_PARTY_MEMBER_LIST", "S_LOGIN", "5007",
	"C_PLAYER_LOCATION", "S_WRONG",
}

// Session makes n packets of the definitions of Files. Some S_CHAT are cut short.
func Session(seed uint64, n int) ([]capture.Packet, error) {
	r := rand.New(rand.NewPCG(seed, seed))
	lib, err := protocol.OpenLibrary(Files(), protocol.LibraryOptions{})
	if err != nil {
		return nil, err
	}
	var list []capture.Packet
	for i := range n {
		name := names[i%len(names)]
		p := capture.Packet{
			Time: time.Date(2020, 9, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(i) * 20 * time.Millisecond),
			From: capture.FromServer,
		}
		if strings.HasPrefix(name, "C_") {
			p.From = capture.FromClient
		}
		if p.Data, err = packet(r, lib, name); err != nil {
			return nil, err
		}
		if name == "S_CHAT" && i%27 == 1 {
			p.Data = p.Data[:10]
			p.Data[0], p.Data[1] = byte(len(p.Data)), 0
		}
		list = append(list, p)
	}
	return list, nil
}

// packet makes a packet of a name. Without a definition it is 13 random bytes.
func packet(r *rand.Rand, lib *protocol.Library, name string) ([]byte, error) {
	code := codes[name]
	i, err := lib.Choose(name, "*", sessionPatch)
	if err != nil || name == "S_WRONG" {
		return append([]byte{13, 0, byte(code), byte(code >> 8)}, "anything?"...), nil
	}
	def, err := lib.Definition(i)
	if err != nil {
		return nil, err
	}
	table, err := lib.Table(i, sessionPatch)
	if err != nil {
		return nil, err
	}
	return table.Encode(&protocol.Message{Code: code, Data: Data(r, def.Fields, sessionPatch)})
}

// Log makes a session of n packets in a TeraConnectionLog.
func Log(seed uint64, n int) ([]byte, error) {
	packets, err := Session(seed, n)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	w, err := capture.NewWriter(&b, capture.Info{Format: capture.TeraLog, Revision: Revision})
	if err != nil {
		return nil, err
	}
	for _, p := range packets {
		if err := w.Write(p); err != nil {
			return nil, err
		}
	}
	return []byte(b.String()), w.Close()
}
