package geometry_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"lorefs/geometry"
	"lorefs/internal/testneeds"
)

// zoneFixtures and areaFixtures were compressed by another implementation of Brotli, and
// described by their maker.
var (
	zoneFixtures = []string{"x0037y0053", "x1002y1006", "x1002y1007"}
	areaFixtures = []string{"gap_p", "single_zone_p", "vk_dq_sd_03_p"}
)

// fixture reads a file of the world and what is expected of it.
func fixture(t testing.TB, name string, expected any) []byte {
	t.Helper()
	path := testneeds.Fixture(t, "world/"+name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if expected == nil {
		return data
	}
	text, err := os.ReadFile(path + ".expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, expected); err != nil {
		t.Fatal(err)
	}
	return data
}

func zoneFixture(t testing.TB, name string) *geometry.Zone {
	t.Helper()
	z, err := geometry.DecodeZone(fixture(t, name+".zgd", nil), geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func areaFixture(t testing.TB, name string) *geometry.Area {
	t.Helper()
	a, err := geometry.DecodeArea(fixture(t, name+".apd", nil), geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

type expectedZone struct {
	RawBytes          int
	RawSha256         string
	Volumes           int
	EmptyCells        int
	MaxVolumesPerCell int
	MinZ, MaxZ        int
	Cells             map[string][][2]int
}

func TestZoneFixtures(t *testing.T) {
	t.Parallel()
	for _, name := range zoneFixtures {
		t.Run(name, func(t *testing.T) {
			var want expectedZone
			file := fixture(t, name+".zgd", &want)
			z, err := geometry.DecodeZone(file, geometry.DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			raw := z.AppendRaw(nil)
			checkRaw(t, raw, want.RawBytes, want.RawSha256)
			if z.RawSize() != want.RawBytes || z.Volumes() != want.Volumes {
				t.Errorf("%d bytes raw, %d volumes: want %d and %d", z.RawSize(), z.Volumes(), want.RawBytes, want.Volumes)
			}
			s := geometry.StatisticsOfZone(z)
			if s.Volumes != want.Volumes || s.EmptyCells != want.EmptyCells || s.MaxVolumes != want.MaxVolumesPerCell ||
				s.MinZ == nil || *s.MinZ != want.MinZ || s.MaxZ == nil || *s.MaxZ != want.MaxZ {
				t.Errorf("statistics are %+v, want %+v", s, want)
			}
			if len(want.Cells) == 0 {
				t.Error("no cell is expected")
			}
			for at, volumes := range want.Cells {
				checkCell(t, z, at, volumes)
			}
		})
	}
}

func checkRaw(t *testing.T, raw []byte, size int, sum string) {
	t.Helper()
	got := sha256.Sum256(raw)
	if len(raw) != size || hex.EncodeToString(got[:]) != sum {
		t.Errorf("%d bytes raw with SHA-256 %x: want %d with %s", len(raw), got, size, sum)
	}
}

func checkCell(t *testing.T, z *geometry.Zone, at string, want [][2]int) {
	t.Helper()
	var sx, sy, cx, cy int
	if _, err := fmt.Sscanf(at, "%d,%d,%d,%d", &sx, &sy, &cx, &cy); err != nil {
		t.Fatal(err)
	}
	volumes := z.Square(geometry.SquareIndex(sx, sy)).Cell(geometry.CellIndex(cx, cy))
	if volumes.Len() != len(want) {
		t.Errorf("cell %s has %d volumes, want %d", at, volumes.Len(), len(want))
		return
	}
	for i, w := range want {
		if got := volumes.At(i); int(got.Z) != w[0] || int(got.Height) != w[1] {
			t.Errorf("cell %s: volume %d is %v, want %v", at, i, got, w)
		}
	}
}

type expectedArea struct {
	RawBytes     int
	RawSha256    string
	Nodes, Edges int
	Zones        [][2]uint32
	Samples      map[string]struct {
		Position [3]float32
		Edges    [][2]uint32
	}
}

func TestAreaFixtures(t *testing.T) {
	t.Parallel()
	for _, name := range areaFixtures {
		t.Run(name, func(t *testing.T) {
			var want expectedArea
			file := fixture(t, name+".apd", &want)
			a, err := geometry.DecodeArea(file, geometry.DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			checkRaw(t, a.Raw(), want.RawBytes, want.RawSha256)
			if a.Nodes() != want.Nodes || a.Edges() != want.Edges || a.Zones() != len(want.Zones) {
				t.Fatalf("%d nodes, %d edges, %d zones: want %d, %d, %d",
					a.Nodes(), a.Edges(), a.Zones(), want.Nodes, want.Edges, len(want.Zones))
			}
			for i, at := range want.Zones {
				if got := a.Zone(i).Position(); got.X != at[0] || got.Y != at[1] {
					t.Errorf("zone %d is %v, want %v", i, got, at)
				}
			}
			if len(want.Samples) == 0 {
				t.Error("no node is expected")
			}
			for at, node := range want.Samples {
				checkNode(t, a, at, node.Position, node.Edges)
			}
		})
	}
}

func checkNode(t *testing.T, a *geometry.Area, at string, position [3]float32, edges [][2]uint32) {
	t.Helper()
	var i int
	if _, err := fmt.Sscan(at, &i); err != nil {
		t.Fatal(err)
	}
	n := a.Node(i)
	if n.Position() != position {
		t.Errorf("node %d is at %v, want %v", i, n.Position(), position)
	}
	var got [][2]uint32
	for e := range n.Edges() {
		got = append(got, [2]uint32{uint32(e.Bit), e.Target})
	}
	if fmt.Sprint(got) != fmt.Sprint(edges) {
		t.Errorf("edges of node %d are %v, want %v", i, got, edges)
	}
}

// TestEncodedFixtures checks that encoded files decompress to the same bytes. It uses the
// fastest quality, because quality does not change them.
func TestEncodedFixtures(t *testing.T) {
	t.Parallel()
	testneeds.Slow(t, "compressing takes some seconds")
	z := zoneFixture(t, "x1002y1006")
	var file bytes.Buffer
	if err := z.Encode(t.Context(), &file, geometry.EncodeOptions{Quality: 1}); err != nil {
		t.Fatal(err)
	}
	again, err := geometry.DecodeZone(file.Bytes(), geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.AppendRaw(nil), z.AppendRaw(nil)) {
		t.Error("the zone reads back as another")
	}
	a := areaFixture(t, "single_zone_p")
	file.Reset()
	if err := a.Encode(t.Context(), &file, geometry.EncodeOptions{Quality: 1}); err != nil {
		t.Fatal(err)
	}
	areaAgain, err := geometry.DecodeArea(file.Bytes(), geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(areaAgain.Raw(), a.Raw()) {
		t.Error("the area reads back as another")
	}
}
