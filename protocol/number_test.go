package protocol_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"lorefs/protocol"
)

// jsonOf returns what AppendJSON makes of the bytes of a packet's only field.
func jsonOf(t *testing.T, table *protocol.Table, field []byte) string {
	t.Helper()
	packet := binary.LittleEndian.AppendUint16(nil, uint16(4+len(field)))
	packet = append(binary.LittleEndian.AppendUint16(packet, 1), field...)
	text, err := table.AppendJSON(nil, packet)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = `{"code":1,"data":{"v":`, `}}`
	return string(text[len(begin) : len(text)-len(end)])
}

// TestNumbers compares numbers with those that the standard library writes.
func TestNumbers(t *testing.T) {
	tables := make(map[string]*protocol.Table)
	for _, typ := range []string{"float", "byte", "int16", "uint16", "int32", "uint32", "int64", "uint64"} {
		tables[typ] = table(t, typ+" v\n", protocol.Options{})
	}
	float := func(f float32) {
		t.Helper()
		b := binary.LittleEndian.AppendUint32(nil, math.Float32bits(f))
		if got, want := jsonOf(t, tables["float"], b), strconv.FormatFloat(float64(f), 'g', -1, 32); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	r := rand.New(rand.NewPCG(7, 7))
	for range 20_000 {
		if f := math.Float32frombits(r.Uint32()); f == f && !math.IsInf(float64(f), 0) {
			float(f)
		}
		// Those without an exponent, that is of -14 to 19.
		float(math.Float32frombits(r.Uint32()&^(0xff<<23) | uint32(113+r.IntN(34))<<23))
		// Short decimal numbers, their neighbours, and what is just too long.
		f := float32(r.IntN(2_000_002)-1_000_001) / float32(math.Pow10(r.IntN(6)))
		for _, f := range []float32{f, math.Nextafter32(f, 1e9), float32(r.IntN(1<<25)) / 1024} {
			float(f)
		}
	}
	for _, f := range []float32{0, float32(math.Copysign(0, -1)), 999_999, 1e6, -1e6, 1e21, 1e-3, 1e-4, 1e-5, math.MaxFloat32, math.SmallestNonzeroFloat32} {
		float(f)
	}
	// The float below a power of two is only half as far as the one above, and some have two
	// shortest numbers that are equally near.
	for e := range 255 {
		f := math.Float32frombits(uint32(e) << 23)
		for _, f := range []float32{f, -f, math.Nextafter32(f, 0), math.Nextafter32(f, 1)} {
			float(f)
		}
	}
	integers := []uint64{0}
	for n, power := 0, uint64(1); n < 20; n, power = n+1, 10*power {
		integers = append(integers, power-1, power, power+1, -power)
	}
	for n := range 64 {
		integers = append(integers, 1<<n, 1<<n-1, r.Uint64()>>n)
	}
	for _, v := range integers {
		b := binary.LittleEndian.AppendUint64(nil, v)
		for typ, want := range map[string]string{
			"byte": fmt.Sprint(byte(v)), "int16": fmt.Sprint(int16(v)), "uint16": fmt.Sprint(uint16(v)),
			"int32": fmt.Sprint(int32(v)), "uint32": fmt.Sprint(uint32(v)),
			"int64": fmt.Sprintf(`"%d"`, int64(v)), "uint64": fmt.Sprintf(`"%d"`, v),
		} {
			size := map[string]int{"byte": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4}[typ]
			if size == 0 {
				size = 8
			}
			if got := jsonOf(t, tables[typ], b[:size]); got != want {
				t.Errorf("%s: got %s, want %s", typ, got, want)
			}
		}
	}
}
