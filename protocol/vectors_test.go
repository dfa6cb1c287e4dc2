package protocol_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
	"lorefs/protocol"
	"lorefs/protocol/prototest"
)

// TestToolboxVectors decodes and encodes every packet that the reference made.
func TestToolboxVectors(t *testing.T) {
	dir, _ := fixtureNames(t, "tera-toolbox")
	n := 0
	for line := range bytes.Lines(fixtureFile(t, "vectors/tera-toolbox.jsonl")) {
		if bytes.Contains(line, []byte("I_INPUT_COMMAND.1.def")) {
			continue // see TestBoolBehindStrings
		}
		var v struct {
			Def     string
			Opcode  uint16
			Hex     string
			Decoded any
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		d, err := fixtureDefinition(t, dir, v.Def)
		if err != nil {
			t.Error(err)
			continue
		}
		tab, err := protocol.Compile(d, protocol.Options{Strict: true})
		if err != nil {
			t.Error(err)
			continue
		}
		text := roundTrip(t, tab, unhex(t, v.Hex))
		if text == nil {
			continue
		}
		if bytes.Contains(text, []byte(`"layout"`)) {
			t.Errorf("%s: %s: has a layout", v.Def, text)
		}
		if d := sameValue(data(t, text), v.Decoded); d != "" {
			t.Errorf("%s: %s\nwant %v:%s", v.Def, text, v.Decoded, d)
		}
		n++
	}
	if n != 835 {
		t.Errorf("%d vectors, want 835", n)
	}
}

// TestBoolBehindStrings has a definition whose bool stands behind its strings. The
// reference writes it there but does not read it there. By the rule it stands before them,
// so it is read from the first letter; but no byte is lost. No real packet of it is known.
func TestBoolBehindStrings(t *testing.T) {
	dir, _ := fixtureNames(t, "tera-toolbox")
	d, err := fixtureDefinition(t, dir, "I_INPUT_COMMAND.1.def")
	if err != nil {
		t.Fatal(err)
	}
	tab, err := protocol.Compile(d, protocol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const packet = "13003e2c08000c006200000020002000000000" // from tera-toolbox.jsonl
	text := roundTrip(t, tab, unhex(t, packet))
	if want := `"data":{"command":"b","parameter":"  ","unk":98}`; !bytes.Contains(text, []byte(want)) {
		t.Errorf("got %s, want %s", text, want)
	}
	strict, err := protocol.Compile(d, protocol.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := strict.AppendJSON(nil, unhex(t, packet)); err == nil {
		t.Errorf("strict: %s", text)
	}
}

// TestDataOutOfOrder reads official S_INVEN packets, which have a string before the array
// whose pointer comes first. Only a definition that lists its pointers says so. Another one
// needs a layout. Both must give the same values and the same bytes.
func TestDataOutOfOrder(t *testing.T) {
	listed := string(fixtureFile(t, "S_INVEN.6.ref-variant.def"))
	const text = "- string unk1 # possibly custom text?\n"
	implied := regexp.MustCompile(`(?m)^(- )*ref .*\n`).ReplaceAllString(strings.Replace(listed, text, "", 1), "") + text
	d, err := protocol.Parse("S_INVEN.6.def", []byte(listed), protocol.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	byList, byRule := table(t, listed, protocol.Options{Strict: true}), table(t, implied, protocol.Options{Strict: true})
	r := rand.New(rand.NewPCG(1, 1))
	layouts := 0
	for range 50 {
		packet, err := byList.Encode(&protocol.Message{Data: prototest.Data(r, d.Fields, 0)})
		if err != nil {
			t.Fatal(err)
		}
		a, b := roundTrip(t, byList, packet), roundTrip(t, byRule, packet)
		if diff := sameValue(data(t, b), data(t, a)); diff != "" {
			t.Errorf("%x:%s", packet, diff)
		}
		if bytes.Contains(a, []byte(`"layout"`)) {
			t.Errorf("%s: has a layout", a)
		}
		if bytes.Contains(b, []byte(`"layout"`)) {
			layouts++
		}
	}
	if layouts < 20 {
		t.Errorf("%d packets need a layout, too few to tell anything", layouts)
	}
}

// TestMeishuuSpec reads the golden packets of the first public parser.
func TestMeishuuSpec(t *testing.T) {
	var vectors []struct {
		Kind, It, Def, Hex string
		Opcode             uint16
		Data               any
	}
	if err := json.Unmarshal(fixtureFile(t, "vectors/meishuu-spec.json"), &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		t.Run(v.Kind+" "+v.It, func(t *testing.T) {
			tab := table(t, v.Def, protocol.Options{Strict: true})
			packet := unhex(t, v.Hex)
			if v.Kind == "write" {
				got, err := tab.Encode(&protocol.Message{Code: v.Opcode})
				if err != nil || !bytes.Equal(got, packet) {
					t.Errorf("got %x, %v, want %x", got, err, packet)
				}
				return
			}
			text := roundTrip(t, tab, packet)
			if d := sameValue(data(t, text), v.Data); d != "" {
				t.Errorf("%s\nwant %v:%s", text, v.Data, d)
			}
		})
	}
}

// toolboxTree returns the reference's parse tree of a definition.
func toolboxTree(fields []protocol.Field, explicit bool) []any {
	tree := []any{}
	if !explicit {
		tree = append(tree, implicitRefs(fields, "")...)
	}
	for i := range fields {
		tree = append(tree, toolboxNode(fields, &fields[i], explicit))
	}
	return tree
}

func toolboxNode(in []protocol.Field, f *protocol.Field, explicit bool) any {
	var below any = f.Type.String()
	switch f.Type {
	case protocol.TypeRef:
		for _, other := range in {
			if other.Name == f.Name && other.Type != protocol.TypeRef {
				below = refTo(other.Type)
			}
		}
	case protocol.TypeObject:
		list := []any{}
		for i := range f.Fields {
			list = append(list, toolboxNode(f.Fields, &f.Fields[i], explicit))
		}
		below = list
	case protocol.TypeArray:
		below = toolboxTree(f.Fields, explicit)
	}
	return []any{f.Name, below}
}

// implicitRefs lists the pointers of a scope, those of its objects with a path.
func implicitRefs(fields []protocol.Field, path string) []any {
	var refs []any
	for _, f := range fields {
		switch f.Type {
		case protocol.TypeString, protocol.TypeBytes, protocol.TypeArray:
			refs = append(refs, []any{path + f.Name, refTo(f.Type)})
		case protocol.TypeObject:
			refs = append(refs, implicitRefs(f.Fields, path+f.Name+".")...)
		}
	}
	return refs
}

func refTo(typ protocol.Type) string {
	name := typ.String()
	return "ref" + strings.ToUpper(name[:1]) + name[1:]
}

func hasRefs(fields []protocol.Field) bool {
	for _, f := range fields {
		if f.Type == protocol.TypeRef || hasRefs(f.Fields) {
			return true
		}
	}
	return false
}

// TestToolboxTrees compares parse trees with those of the reference.
func TestToolboxTrees(t *testing.T) {
	dir, _ := fixtureNames(t, "tera-toolbox")
	n := 0
	for line := range bytes.Lines(fixtureFile(t, "vectors/tera-toolbox.ast.jsonl")) {
		var v struct {
			ID  string
			Def any
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		d, err := fixtureDefinition(t, dir, v.ID)
		if err != nil {
			t.Error(err)
			continue
		}
		got := fmt.Sprint(toolboxTree(d.Fields, hasRefs(d.Fields)))
		if want := fmt.Sprint(v.Def); got != want {
			t.Errorf("%s\n got %s\nwant %s", v.ID, got, want)
		}
		n++
	}
	if n != 836 {
		t.Errorf("%d trees, want 836", n)
	}
}

// TestWrongDefinitions reads packets by the definitions of others. They are refused, or
// come back all the same; most need a layout for that.
func TestWrongDefinitions(t *testing.T) {
	dir, names := fixtureNames(t, "tera-proxy")
	step := 50
	if testneeds.Quick() {
		step = 300
	}
	var packets [][]byte
	for line := range bytes.Lines(fixtureFile(t, "vectors/tera-toolbox.jsonl")) {
		var v struct{ Hex string }
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		packets = append(packets, unhex(t, v.Hex))
	}
	decoded := 0
	for i := 0; i < len(names); i += step {
		d, err := fixtureDefinition(t, dir, names[i])
		if err != nil {
			continue
		}
		tab, err := protocol.Compile(d, protocol.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range packets {
			if checkAny(t, tab, p) {
				decoded++
			}
		}
	}
	if decoded < 500 {
		t.Errorf("%d packets were decoded, too few to tell anything", decoded)
	}
}
