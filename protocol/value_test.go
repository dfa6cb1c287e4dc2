package protocol_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"lorefs/protocol"
	"lorefs/protocol/prototest"
)

// TestValues reads back what was encoded, by the methods of values.
func TestValues(t *testing.T) {
	tab := table(t, "string text\nbytes raw\narray<int16> list\nbool yes\nint32 n\nuint64 u\nfloat f\ndouble d\nangle w\n"+
		"vec3 at\nvec3fa turn\nskillid skill\ncustomize look\nbyte[2] two\nobject o\n- bool odd\n", protocol.Options{})
	at, skill := protocol.Vec3{1.5, -2, 3}, protocol.SkillID{ID: 7, HuntingZone: 9, Type: 1, NPC: true, Reserved: 1 << 30}
	look := protocol.Customize{1, 2, 3, 4, 5, 6, 7, 255}
	packet, err := tab.Encode(&protocol.Message{Data: protocol.Object{
		{Name: "text", Value: protocol.Text("hey")},
		{Name: "raw", Value: protocol.Bytes([]byte{1, 2})},
		{Name: "list", Value: protocol.List(protocol.Int(-5), protocol.Uint(uint8(6)))},
		{Name: "yes", Value: protocol.Bool(true)},
		{Name: "n", Value: protocol.Int(-1 << 31)},
		{Name: "u", Value: protocol.Uint(uint64(1<<63 + 1))},
		{Name: "f", Value: protocol.Float(0.5)},
		{Name: "d", Value: protocol.Double(-1e300)},
		{Name: "w", Value: protocol.Angle(-7).Value()},
		{Name: "at", Value: at.Value()},
		{Name: "turn", Value: protocol.Vec3FA(at).Value()},
		{Name: "skill", Value: skill.Value()},
		{Name: "look", Value: look.Value()},
		{Name: "two", Value: protocol.List(protocol.Int(8), protocol.Int(9))},
		{Name: "o", Value: protocol.Object{{Name: "odd", Value: protocol.Uint(uint8(3))}}.Value()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := tab.Decode(packet)
	if err != nil {
		t.Fatal(err)
	}
	get := m.Data.Get
	for name, tt := range map[string]struct{ got, want any }{
		"text": {get("text").Text(), "hey"}, "raw": {get("raw").Bytes(), []byte{1, 2}},
		"length": {get("list").Len(), 2}, "elements": {get("list").At(0).Int() + get("list").At(1).Int(), int64(1)},
		"yes": {get("yes").Bool(), true}, "n": {get("n").Int(), int64(-1 << 31)}, "u": {get("u").Uint(), uint64(1<<63 + 1)},
		"f": {get("f").Float(), 0.5}, "d": {get("d").Float(), -1e300}, "w": {get("w").Angle(), protocol.Angle(-7)},
		"at": {get("at").Vec3(), at}, "turn": {get("turn").Vec3(), at}, "skill": {get("skill").SkillID(), skill},
		"look": {get("look").Customize(), look}, "two": {get("two").At(1).Uint(), uint64(9)},
		"a bool of 3": {get("o").Object().Get("odd").Uint(), uint64(3)}, "its kind": {get("o").Object().Get("odd").Kind(), protocol.KindUint},
		"a missing field": {get("no").Kind(), protocol.KindNone},
		"kinds":           {get("turn").Kind().String() + get("o").Kind().String(), "vec3faobject"},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s: got %v, want %v", name, tt.got, tt.want)
		}
	}
}

// TestDecoder reads packets of many definitions into the same memory.
func TestDecoder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var d protocol.Decoder
	for range 300 {
		def, err := protocol.Parse("TEST.1.def", []byte(prototest.Definition(r, 1+r.IntN(20))), protocol.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		tab, err := protocol.Compile(def, protocol.Options{})
		if err != nil {
			t.Fatal(err)
		}
		packet, err := tab.Encode(&protocol.Message{Data: prototest.Data(r, def.Fields, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(3) == 0 {
			packet = append(packet, 0, 1, 0) // which a layout tells of
		}
		want := decode(t, tab, packet)
		got, err := d.Decode(tab, packet)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v, want %+v", got, err, want)
		}
		if _, err := d.Decode(tab, packet[:3]); err == nil {
			t.Fatal("a packet of 3 bytes is read")
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatal("the message differs after an error")
		}
	}
}
