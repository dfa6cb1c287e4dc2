package geomtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/andybalholm/brotli"

	"lorefs/geometry"
)

// Cells returns the volumes of the cell at x, y, 0 to 959 each, counted over the whole
// zone.
type Cells func(x, y int) []geometry.Volume

// Empty has no volumes.
func Empty(int, int) []geometry.Volume { return nil }

// Flat has one floor everywhere, under open sky.
func Flat(z int16) Cells {
	floor := []geometry.Volume{{Z: z, Height: 32767}}
	return func(int, int) []geometry.Volume { return floor }
}

// Hills returns a landscape with a bridge here and there, and holes. Another seed makes
// another.
func Hills(seed int) Cells {
	return func(x, y int) []geometry.Volume {
		h := uint32(x*7919 + y*104729 + seed*31)
		h ^= h >> 7
		z := int16(2000*math.Sin(float64(x+seed*37)/90) + 1500*math.Cos(float64(y-seed*11)/130))
		switch {
		case h%97 == 0:
			return nil
		case h%31 == 0:
			return []geometry.Volume{{Z: z, Height: 250}, {Z: z + 300, Height: 32767}}
		}
		return []geometry.Volume{{Z: z, Height: 32767}}
	}
}

// Extremes has everything that a zone can hold: lowest and highest floors, cells of 255
// volumes, no height and the greatest, and empty cells between them.
func Extremes(x, y int) []geometry.Volume {
	switch (x*960 + y) % 5000 {
	case 0:
		volumes := make([]geometry.Volume, 255)
		for i := range volumes {
			volumes[i] = geometry.Volume{Z: int16(math.MinInt16 + 257*i), Height: uint16(math.MaxUint16 - i)}
		}
		return volumes
	case 1:
		return []geometry.Volume{{Z: math.MinInt16}, {Z: math.MaxInt16, Height: math.MaxUint16}}
	case 2:
		return []geometry.Volume{{Z: math.MaxInt16}}
	case 3:
		return []geometry.Volume{{Z: -1, Height: 1}, {Z: 0}, {Z: 1, Height: 32767}}
	}
	return nil
}

// RawZone returns a decompressed zone.
func RawZone(cells Cells) []byte {
	var raw []byte
	var last geometry.Volume
	for square := range 120 * 120 {
		for cell := range 8 * 8 {
			volumes := cells(square/120*8+cell/8, square%120*8+cell%8)
			raw = append(raw, uint8(len(volumes)))
			for _, v := range volumes {
				raw = binary.LittleEndian.AppendUint16(raw, uint16(v.Z)-uint16(last.Z))
				raw = binary.LittleEndian.AppendUint16(raw, v.Height-last.Height)
				last = v
			}
		}
	}
	return raw
}

// OriginalZone returns a zone as the original server's .idx and .geo files.
func OriginalZone(cells Cells) (idx, geo []byte) {
	for square := range 120 * 120 {
		sum := len(idx)
		idx = append(idx, 0, 0, 0, 0)
		total := 0
		for cell := range 8 * 8 {
			volumes := cells(square/120*8+cell/8, square%120*8+cell%8)
			total += len(volumes)
			idx = binary.LittleEndian.AppendUint16(idx, uint16(len(volumes)))
			for _, v := range volumes {
				geo = binary.LittleEndian.AppendUint16(geo, uint16(v.Z))
				geo = binary.LittleEndian.AppendUint16(geo, v.Height)
			}
		}
		binary.LittleEndian.PutUint32(idx[sum:], uint32(total))
	}
	return idx, geo
}

// Compress makes a file, at a low quality.
func Compress(raw []byte) []byte {
	var file bytes.Buffer
	w := brotli.NewWriterOptions(&file, brotli.WriterOptions{Quality: 1, LGWin: 22})
	if _, err := w.Write(raw); err != nil {
		panic(fmt.Sprintf("geomtest: BUG: %v", err))
	}
	if err := w.Close(); err != nil {
		panic(fmt.Sprintf("geomtest: BUG: %v", err))
	}
	return file.Bytes()
}

// ZoneFile returns a .zgd file.
func ZoneFile(cells Cells) []byte { return Compress(RawZone(cells)) }
