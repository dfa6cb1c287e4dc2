package geometry_test

import (
	"bytes"
	"errors"
	"testing"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
)

// needFormatError fails for any other error.
func needFormatError(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*geometry.FormatError](err); !ok {
		t.Fatalf("%v: want a FormatError", err)
	}
}

// FuzzZone puts data into an empty zone, and also reads it as a file. A zone that can be
// read must be written as the same bytes.
func FuzzZone(f *testing.F) {
	f.Add([]byte{}, uint32(0), uint16(0))
	f.Add([]byte{1, 0xff, 0xff, 1, 0}, uint32(64), uint16(4))
	f.Add([]byte{255}, uint32(0), uint16(1020))
	f.Add([]byte{1, 0, 0x80, 0xff, 0xff, 1, 0, 0x80, 1, 0}, uint32(921_595), uint16(8))
	f.Add(geomtest.ZoneFile(geomtest.Empty), uint32(5), uint16(5))
	f.Fuzz(func(t *testing.T, data []byte, at uint32, more uint16) {
		if _, err := geometry.DecodeZone(data, geometry.DecodeOptions{Max: 2 << 20}); err != nil {
			needFormatError(t, err)
		}
		raw := make([]byte, geometry.ZoneCells+int(more))
		copy(raw[int(at)%len(raw):], data)
		z, err := geometry.ParseZone(raw)
		if err != nil {
			needFormatError(t, err)
			return
		}
		if !bytes.Equal(z.AppendRaw(nil), raw) {
			t.Fatal("it is written as other bytes")
		}
	})
}

// FuzzArea reads data as a file and as an area, to which it may add empty zones.
func FuzzArea(f *testing.F) {
	f.Add(geomtest.Area{}.Raw(), uint8(0))
	small := geomtest.Area{Nodes: []geomtest.Node{
		{Position: [3]float32{1, 2, 3}, Edges: []geometry.Edge{{Bit: 1, Target: 1}, {Bit: 7, Target: 0}}},
		{Position: [3]float32{-1, 0.5, 1e30}},
	}}.Raw()
	f.Add(small, uint8(0))
	f.Add(append(small[:len(small)-4:len(small)-4], 1, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 1), uint8(1))
	f.Add(geomtest.Compress(small), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, zones uint8) {
		if _, err := geometry.DecodeArea(data, geometry.DecodeOptions{Max: 2 << 20}); err != nil {
			needFormatError(t, err)
		}
		raw := append(bytes.Clone(data), make([]byte, int(zones)%3*72008)...)
		raw = raw[:max(len(raw)-int(zones)/3, 0)]
		a, err := geometry.ParseArea(raw)
		if err != nil {
			needFormatError(t, err)
			return
		}
		if !bytes.Equal(a.Raw(), raw) {
			t.Fatal("it is kept as other bytes")
		}
		for _, text := range []geometry.Text{geometry.PathsOBJ(a), geometry.AreaGeoJSON(a)} {
			write(t, text)
		}
		geometry.StatisticsOfArea(a).AppendJSON(nil)
		checkAreaReadsBack(t, a, write(t, geometry.AreaJSON(a)))
	})
}

func needJSONError(t *testing.T, err error) {
	t.Helper()
	e, ok := errors.AsType[*geometry.JSONError](err)
	if !ok || e.Line < 1 || e.Column < 1 {
		t.Fatalf("%v: want a JSONError", err)
	}
}

// FuzzZoneJSON reads text as a zone, as its first square, and as a square alone.
func FuzzZoneJSON(f *testing.F) {
	f.Add([]byte(`{"format":"lorefs zone","about":[1e5,"\u0020",{"a":null}],"squares":[]}`))
	f.Add([]byte(cellsText("[[-5,0],[7,65535]]")))
	f.Add([]byte(cellsText("[[1, 2] , [3,4 ]]")))
	f.Add(geometry.AppendSquareJSON(nil, parseZone(f, geomtest.Hills(2)), 7, geometry.ZonePosition{X: 1, Y: 2}, geometry.DefaultOrigin))
	tail := []byte(zoneText(""))
	head := tail[:len(`{"squares":[`)]
	tail = tail[len(head):]
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := geometry.DecodeZoneJSON(text, geometry.JSONOptions{}); err != nil {
			needJSONError(t, err)
		}
		if _, err := geometry.DecodeSquareJSON(text, geometry.JSONOptions{AnyOrder: true}); err != nil {
			needJSONError(t, err)
		}
		z, err := geometry.DecodeZoneJSON(bytes.Join([][]byte{head, text, tail}, nil), geometry.JSONOptions{})
		if err != nil {
			needJSONError(t, err)
			return
		}
		checkZoneReadsBack(t, z, write(t, geometry.ZoneJSON(z)))
	})
}

// FuzzAreaJSON reads text as an area.
func FuzzAreaJSON(f *testing.F) {
	f.Add([]byte(`{"format":"lorefs area","about":[],"nodes":[],"zones":[]}`))
	f.Add([]byte(`{"zones":[],"nodes":[{"at":[-0,1.5e-40,3e38],"edges":[[0,1,2,3],[7,0]]},` + "\n" + `{"edges":[],"at":[0.1,2,3]}]}`))
	f.Add([]byte(`{"nodes":[{"at":[1,2,3],"edges":[[0,1]]}],"zones":[{"zone":[1,2],"squares":[[0,0]]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := geometry.DecodeAreaJSON(text)
		if err != nil {
			needJSONError(t, err)
			return
		}
		checkAreaReadsBack(t, a, write(t, geometry.AreaJSON(a)))
	})
}
