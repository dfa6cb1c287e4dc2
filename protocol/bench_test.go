package protocol_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"lorefs/protocol"
	"lorefs/protocol/prototest"
)

// benchPackets are packets of generated definitions, none of which has a layout.
func benchPackets(b *testing.B) (tabs []*protocol.Table, packets [][]byte, size int64) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		d, err := protocol.Parse("TEST.1.def", []byte(prototest.Definition(r, 20)), protocol.ParseOptions{})
		if err != nil {
			b.Fatal(err)
		}
		tab, err := protocol.Compile(d, protocol.Options{})
		if err != nil {
			b.Fatal(err)
		}
		packet, err := tab.Encode(&protocol.Message{Data: prototest.Data(r, d.Fields, 0)})
		if err != nil {
			b.Fatal(err)
		}
		tabs, packets, size = append(tabs, tab), append(packets, packet), size+int64(len(packet))
	}
	return tabs, packets, size
}

func benchJSON(b *testing.B, tabs []*protocol.Table, packets [][]byte, size int64) {
	b.SetBytes(size)
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		for i, p := range packets {
			var err error
			if dst, err = tabs[i].AppendJSON(dst[:0], p); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(packets))*float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}

func BenchmarkAppendJSON(b *testing.B) {
	tabs, packets, size := benchPackets(b)
	benchJSON(b, tabs, packets, size)
}

// The vectors of tera-toolbox, which are small packets.
func BenchmarkAppendJSONToolbox(b *testing.B) {
	dir, _ := fixtureNames(b, "tera-toolbox")
	var tabs []*protocol.Table
	var packets [][]byte
	var size int64
	for line := range bytes.Lines(fixtureFile(b, "vectors/tera-toolbox.jsonl")) {
		var v struct{ Def, Hex string }
		if err := json.Unmarshal(line, &v); err != nil {
			b.Fatal(err)
		}
		d, err := fixtureDefinition(b, dir, v.Def)
		if err != nil {
			b.Fatal(err)
		}
		tab, err := protocol.Compile(d, protocol.Options{})
		if err != nil {
			b.Fatal(err)
		}
		packet := unhex(b, v.Hex)
		tabs, packets, size = append(tabs, tab), append(packets, packet), size+int64(len(packet))
	}
	benchJSON(b, tabs, packets, size)
}

func BenchmarkDecode(b *testing.B) {
	tabs, packets, size := benchPackets(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for i, p := range packets {
			if _, err := tabs[i].Decode(p); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(packets))*float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}

func BenchmarkEncode(b *testing.B) {
	tabs, packets, size := benchPackets(b)
	messages := make([]*protocol.Message, len(packets))
	for i, p := range packets {
		messages[i] = decode(b, tabs[i], p)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for i, m := range messages {
			if _, err := tabs[i].Encode(m); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(packets))*float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}
