package geometry

import (
	"errors"
	"fmt"
	"iter"

	"lorefs/internal/shown"
)

// Finding is a breach of a rule in a file.
type Finding struct {
	// In and Off are the place, as in a [FormatError].
	In  string
	Off int64
	// What was found and what was expected.
	What string
}

func (f Finding) String() string { return fmt.Sprintf("offset %d of the %s: %s", f.Off, f.In, f.What) }

// findingOf returns the breach that ends the reading of a file.
func findingOf(err error) Finding {
	if e, ok := errors.AsType[*FormatError](err); ok {
		return Finding{e.In, e.Off, shown.Fault(e.What, e.Err)}
	}
	return Finding{In: "file", What: err.Error()}
}

// VerifyZone yields each breach of a rule in a .zgd file. If the file can't be decoded,
// that is the only one. With strict, it also yields overlapping volumes: no known file has
// them, but no rule forbids them.
func VerifyZone(file []byte, strict bool, opts DecodeOptions) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		z, err := DecodeZone(file, opts)
		if err != nil {
			yield(findingOf(err))
			return
		}
		off := 0
		for square := range ZoneSquares {
			for cell, volumes := range z.Square(square).Cells {
				for f := range cellFindings(volumes, strict) {
					f.Off += int64(off) + 1
					f.What = cellName(square, cell) + ": " + f.What
					if !yield(f) {
						return
					}
				}
				off += 1 + volumes.Len()*volumeSize
			}
		}
	}
}

// cellFindings yields findings with offsets in the list of volumes.
func cellFindings(volumes Volumes, strict bool) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		for i := 1; i < volumes.Len(); i++ {
			before, v := volumes.At(i-1), volumes.At(i)
			what := ""
			switch {
			case v.Z <= before.Z:
				what = fmt.Sprintf("volume %d is at z %d: want more than that of the one before, %d", i, v.Z, before.Z)
			case strict && int(before.Z)+int(before.Height) > int(v.Z):
				what = fmt.Sprintf("volume %d is at z %d, within the one before, from %d to %d",
					i, v.Z, before.Z, int(before.Z)+int(before.Height))
			}
			if what != "" && !yield(Finding{"zone", int64(i * volumeSize), what}) {
				return
			}
		}
	}
}

// VerifyArea yields each breach of a rule in an .apd file. If the file can't be decoded,
// that is the only one. With strict, it also yields what differs from all known files:
// zones that are no rectangle in the order of x, and nodes in no square or not in the order
// of the squares.
func VerifyArea(file []byte, strict bool, opts DecodeOptions) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		a, err := DecodeArea(file, opts)
		if err != nil {
			yield(findingOf(err))
			return
		}
		if !strict || !a.verifyOrder(yield) {
			return
		}
		if want, ok := a.rectangle(); !ok {
			yield(Finding{"area", int64(a.offset(a.nodes)), "the zones are no rectangle in the order of x: want " + want})
		}
	}
}

// verifyOrder checks that the nodes are in the order of the squares.
func (a *Area) verifyOrder(yield func(Finding) bool) (more bool) {
	next := int64(0)
	for i := range a.Zones() {
		z := a.Zone(i)
		for square := range ZoneSquares {
			r := z.Square(square)
			if r.Count == 0 {
				continue
			}
			if int64(r.First) != next {
				off := a.offset(a.nodes) + countSize + i*zoneSize + placeSize + square*squareSize
				what := fmt.Sprintf("square %d,%d of zone %v has nodes from %d on: want from %d on",
					square/ZoneSide, square%ZoneSide, z.Position(), r.First, next)
				if !yield(Finding{"area", int64(off), what}) {
					return false
				}
			}
			next = int64(r.First) + int64(r.Count)
		}
	}
	if next == int64(a.nodes) {
		return true
	}
	return yield(Finding{"area", int64(a.offset(a.nodes)), fmt.Sprintf("the squares have %d of %d nodes", next, a.nodes)})
}

// rectangle reports whether the zones are all those of a rectangle, in the order of x. If
// not, want describes that rectangle.
func (a *Area) rectangle() (want string, ok bool) {
	if a.zones == 0 {
		return "", true
	}
	first, last := a.Zone(0).Position(), a.Zone(a.zones-1).Position()
	want = fmt.Sprintf("%v to %v", first, last)
	width, height := int64(last.X)-int64(first.X)+1, int64(last.Y)-int64(first.Y)+1
	if width < 1 || height < 1 || width*height != int64(a.zones) {
		return want, false
	}
	for i := range a.zones {
		at := ZonePosition{first.X + uint32(int64(i)/height), first.Y + uint32(int64(i)%height)}
		if a.Zone(i).Position() != at {
			return want, false
		}
	}
	return want, true
}
