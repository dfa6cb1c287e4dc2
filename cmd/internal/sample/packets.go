package sample

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lorefs/protocol"
	"lorefs/protocol/capture"
)

const (
	// sessionName is the file name of the recorded session.
	sessionName = "session.TeraLog"
	// definitionsName is the folder of the session's definitions.
	definitionsName = "definitions"

	// clientRevision is the revision of the map and the session.
	clientRevision = "1001"
	sessionPatch   = 9802
	sessionLength  = 240 // packets
)

// definitions are the texts of the packet definitions, by file name. S_CHAT has one for
// older clients, too.
var definitions = map[string]string{
	"C_CHAT.1.def": "int32  channel\nstring message\n",
	"C_MOVE.1.def": "vec3   loc\nangle  w\nvec3   dest\nint32  type\nuint32 time\n",
	"S_CHAT.1.def": "# majorPatchVersion < 90\nint32  channel\nstring author\nstring message\n",
	"S_CHAT.2.def": "# majorPatchVersion >= 90\nint32  channel\nuint64 authorId\nbool   gm\nstring author\nstring message\n",
	"S_INVENTORY.1.def": "uint64 owner\nint64  gold\narray  items\n- uint64 dbid\n- int32  id\n- int32  slot\n- int32  amount\n" +
		"- array<int32> crystals\n",
	"S_SKILL_START.1.def": "uint64  source\nskillid skill\nfloat   speed ^86\nobject  place\n- vec3  loc\n- angle w\n",
	"S_SPAWN_NPC.1.def":   "uint64 gameId\nvec3   loc\nangle  w\nint32  templateId\nstring npcName\n",
}

// packetCodes are the operation codes of the session. S_WEATHER has no definition.
var packetCodes = map[string]uint16{
	"C_CHAT": 20417, "C_MOVE": 31744, "S_CHAT": 28935, "S_INVENTORY": 46150, "S_SKILL_START": 33018,
	"S_SPAWN_NPC": 50204, "S_WEATHER": 61443,
}

// packetFiles returns the recorded session and the folder of its definitions, laid out like
// public ones.
func packetFiles() ([]file, error) {
	session, err := recordSession()
	if err != nil {
		return nil, err
	}
	list := []file{{sessionName, session}}
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		list = append(list, file{definitionsName + "/protocol/" + name, []byte(definitions[name])})
	}
	var codes strings.Builder
	for _, name := range slices.Sorted(maps.Keys(packetCodes)) {
		fmt.Fprintf(&codes, "%s %d\n", name, packetCodes[name])
	}
	return append(list,
		file{definitionsName + "/map/protocol." + clientRevision + ".map", []byte(codes.String())},
		file{definitionsName + "/map/revisions.json", []byte(`{"` + clientRevision + `": "eu-98.02"}` + "\n")}), nil
}

// recordSession makes the log, always the same bytes.
func recordSession() ([]byte, error) {
	tables := make(map[string]*protocol.Table)
	for name, text := range definitions {
		d, err := protocol.Parse(name, []byte(text), protocol.ParseOptions{})
		if err != nil {
			return nil, err
		}
		if !d.Patches.Contains(sessionPatch) {
			continue
		}
		if tables[d.Name], err = protocol.Compile(d, protocol.Options{Patch: sessionPatch}); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	w, err := capture.NewWriter(&b, capture.Info{Format: capture.TeraLog, Revision: clientRevision})
	if err != nil {
		return nil, err
	}
	g := newGen()
	at := time.Date(2020, 9, 1, 20, 0, 0, 0, time.UTC)
	for i := range sessionLength {
		at = at.Add(time.Duration(g.between(10, 200, 10)) * time.Millisecond)
		if err := g.record(w, tables, at, i); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), w.Close()
}

// record writes the i-th packet of the session.
func (g *gen) record(w *capture.Writer, tables map[string]*protocol.Table, at time.Time, i int) error {
	name, data := g.packet(i)
	p := capture.Packet{Time: at, From: capture.FromServer, Data: []byte{8, 0, 0, 0, 1, 0, 0, 0}}
	if strings.HasPrefix(name, "C_") {
		p.From = capture.FromClient
	}
	code := packetCodes[name]
	p.Data[2], p.Data[3] = byte(code), byte(code>>8)
	if t := tables[name]; t != nil {
		var err error
		if p.Data, err = t.Encode(&protocol.Message{Code: code, Data: data}); err != nil {
			return err
		}
	}
	return w.Write(p)
}

// packet returns what happens in the i-th packet: somebody walks, and now and then there is
// something else.
func (g *gen) packet(i int) (name string, data protocol.Object) {
	person := people[i%len(people)]
	id := uint64(0x80000000) + uint64(i%len(people))
	loc := protocol.Vec3{g.quarter(0, 15000), g.quarter(0, 15000), g.quarter(0, 4000)}
	w := protocol.Angle(g.between(-32768, 32767, 1))
	switch {
	case i == 0:
		return "S_INVENTORY", g.inventory(id)
	case i%40 == 39:
		return "S_WEATHER", nil
	case i%12 == 5:
		material, thing := itemWords(g.between(0, 99, 1))
		message := fmt.Sprintf("<FONT>Selling a %s of %s at %s.</FONT>", thing.code(), material.code(), places[i%len(places)])
		if i%24 == 5 {
			return "C_CHAT", protocol.Object{{Name: "channel", Value: protocol.Int(4)}, {Name: "message", Value: protocol.Text(message)}}
		}
		return "S_CHAT", protocol.Object{
			{Name: "channel", Value: protocol.Int(4)},
			{Name: "authorId", Value: protocol.Uint(id)},
			{Name: "author", Value: protocol.Text(person.String())},
			{Name: "message", Value: protocol.Text(message)},
		}
	case i%8 == 3:
		creature := creatures[g.between(0, len(creatures)-1, 1)]
		return "S_SPAWN_NPC", protocol.Object{
			{Name: "gameId", Value: protocol.Uint(uint64(0x90000000) + uint64(i))},
			{Name: "loc", Value: loc.Value()},
			{Name: "w", Value: w.Value()},
			{Name: "templateId", Value: protocol.Int(g.between(100, 139, 1))},
			{Name: "npcName", Value: protocol.Text(creature.korean)},
		}
	case i%8 == 6:
		return "S_SKILL_START", protocol.Object{
			{Name: "source", Value: protocol.Uint(id)},
			{Name: "skill", Value: protocol.SkillID{ID: uint32(g.between(10000, 40000, 100)), Type: 1}.Value()},
			{Name: "speed", Value: protocol.Float(g.quarter(1, 2))},
			{Name: "place", Value: protocol.Object{{Name: "loc", Value: loc.Value()}, {Name: "w", Value: w.Value()}}.Value()},
		}
	}
	return "C_MOVE", protocol.Object{{Name: "loc", Value: loc.Value()}, {Name: "w", Value: w.Value()}, {Name: "dest", Value: loc.Value()}, {Name: "time", Value: protocol.Int(i * 100)}}
}

func (g *gen) inventory(owner uint64) protocol.Object {
	items := make([]protocol.Value, 20)
	for slot := range items {
		crystals := make([]protocol.Value, slot%3)
		for i := range crystals {
			crystals[i] = protocol.Int(g.between(500, 560, 1))
		}
		items[slot] = protocol.Object{
			{Name: "dbid", Value: protocol.Int(7000 + slot)},
			{Name: "id", Value: protocol.Int(1000 + g.between(0, itemCount-1, 1))},
			{Name: "slot", Value: protocol.Int(slot)},
			{Name: "amount", Value: protocol.Int(g.between(1, 20, 1))},
			{Name: "crystals", Value: protocol.List(crystals...)},
		}.Value()
	}
	return protocol.Object{{Name: "owner", Value: protocol.Uint(owner)}, {Name: "gold", Value: protocol.Int(12345)}, {Name: "items", Value: protocol.List(items...)}}
}
