package protocol_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"lorefs/protocol"
	"lorefs/protocol/prototest"
)

// benchPackets returns packets of generated definitions without layouts.
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

// toolboxPackets returns tera-toolbox's test vectors, which are small packets.
func toolboxPackets(b *testing.B) (tabs []*protocol.Table, packets [][]byte, size int64) {
	b.Helper()
	dir, _ := fixtureNames(b, "tera-toolbox")
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
	return tabs, packets, size
}

// benchEach calls do with each packet again and again.
func benchEach(b *testing.B, tabs []*protocol.Table, packets [][]byte, size int64, do func(t *protocol.Table, packet []byte) error) {
	b.Helper()
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for i, p := range packets {
			if err := do(tabs[i], p); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(packets))*float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}

func benchBoth(b *testing.B, do func(t *protocol.Table, packet []byte) error) {
	b.Run("generated", func(b *testing.B) {
		tabs, packets, size := benchPackets(b)
		benchEach(b, tabs, packets, size, do)
	})
	b.Run("toolbox", func(b *testing.B) {
		tabs, packets, size := toolboxPackets(b)
		benchEach(b, tabs, packets, size, do)
	})
}

func BenchmarkAppendJSON(b *testing.B) {
	var dst []byte
	benchBoth(b, func(t *protocol.Table, packet []byte) (err error) {
		dst, err = t.AppendJSON(dst[:0], packet)
		return err
	})
}

// BenchmarkDecode is the time of [BenchmarkAppendJSON] without the JSON.
func BenchmarkDecode(b *testing.B) {
	var d protocol.Decoder
	benchBoth(b, func(t *protocol.Table, packet []byte) error {
		_, err := d.Decode(t, packet)
		return err
	})
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

// BenchmarkParseJSON is in bytes of packets, not of text.
func BenchmarkParseJSON(b *testing.B) {
	for _, spaced := range []bool{false, true} {
		b.Run(map[bool]string{false: "written", true: "indented"}[spaced], func(b *testing.B) {
			tabs, packets, size := benchPackets(b)
			texts := make([][]byte, len(packets))
			for i, p := range packets {
				text, err := tabs[i].AppendJSON(nil, p)
				if err != nil {
					b.Fatal(err)
				}
				if texts[i] = text; spaced {
					var indented bytes.Buffer
					if err := json.Indent(&indented, text, "", "  "); err != nil {
						b.Fatal(err)
					}
					texts[i] = indented.Bytes()
				}
			}
			benchEach(b, tabs, texts, size, func(t *protocol.Table, text []byte) error {
				_, err := t.ParseJSON(text)
				return err
			})
		})
	}
}
