package worldkind

import (
	"context"
	"io"
	"text/tabwriter"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/geometry"
	"lorefs/internal/shown"
)

// worldDescription is the output of info for a folder of world geometry. Its fields are
// printed in this order, and scripts rely on their names.
type worldDescription struct {
	Zones zonesDescription `json:"zones"`
	Areas areasDescription `json:"areas"`
	// Bad are the files that can't be decoded, and LeftOut the files whose names don't fit.
	Bad     []fileProblem `json:"bad"`
	LeftOut []fileProblem `json:"left_out"`

	SourceSize  int64     `json:"source_size"`
	SourceMtime time.Time `json:"source_mtime"`
}

type zonesDescription struct {
	Count    int   `json:"count"`
	Bytes    int64 `json:"bytes"`
	RawBytes int64 `json:"raw_bytes"`
	Volumes  int64 `json:"volumes"`
	// First and Last are the corners of the smallest rectangle around all zones; null if
	// there are none.
	First *[2]uint32 `json:"first"`
	Last  *[2]uint32 `json:"last"`
}

type areasDescription struct {
	Count    int   `json:"count"`
	Bytes    int64 `json:"bytes"`
	RawBytes int64 `json:"raw_bytes"`
	Nodes    int64 `json:"nodes"`
	Edges    int64 `json:"edges"`
}

type fileProblem struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// Describe decodes every file that is not in the index.
func (w *World) Describe() (kinds.Description, error) {
	all, err := w.Tree.Summaries(context.Background())
	if err != nil {
		return nil, err
	}
	d := worldDescription{
		Bad: []fileProblem{}, LeftOut: []fileProblem{},
		SourceSize: w.Tree.Usage().Bytes, SourceMtime: w.since.UTC(),
	}
	for _, s := range all {
		if s.Err != nil {
			d.Bad = append(d.Bad, fileProblem{s.File.File, s.Err.Error()})
		}
		if s.Area {
			a := &d.Areas
			a.Count, a.Bytes, a.RawBytes, a.Nodes, a.Edges = a.Count+1, a.Bytes+s.Size, a.RawBytes+s.Raw, a.Nodes+s.Nodes, a.Edges+s.Edges
			continue
		}
		z := &d.Zones
		z.Count, z.Bytes, z.RawBytes, z.Volumes = z.Count+1, z.Bytes+s.Size, z.RawBytes+s.Raw, z.Volumes+s.Volumes
		z.surround(s.Zone)
	}
	for _, l := range w.Tree.LeftOut() {
		d.LeftOut = append(d.LeftOut, fileProblem{l.File, l.Why})
	}
	return d, nil
}

// surround extends the rectangle to one more zone.
func (z *zonesDescription) surround(at geometry.ZonePosition) {
	if z.First == nil {
		z.First, z.Last = &[2]uint32{at.X, at.Y}, &[2]uint32{at.X, at.Y}
		return
	}
	z.First[0], z.First[1] = min(z.First[0], at.X), min(z.First[1], at.Y)
	z.Last[0], z.Last[1] = max(z.Last[0], at.X), max(z.Last[1], at.Y)
}

func (d worldDescription) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	shown.Fprintf(t, "zones\t%s of %d bytes, decompressed %d\n", shown.Plural(d.Zones.Count, "file"), d.Zones.Bytes, d.Zones.RawBytes)
	if d.Zones.First != nil {
		shown.Fprintf(t, "from, to\tx%04dy%04d, x%04dy%04d\n", d.Zones.First[0], d.Zones.First[1], d.Zones.Last[0], d.Zones.Last[1])
	}
	shown.Fprintf(t, "volumes\t%d\n", d.Zones.Volumes)
	shown.Fprintf(t, "areas\t%s of %d bytes, decompressed %d\n", shown.Plural(d.Areas.Count, "file"), d.Areas.Bytes, d.Areas.RawBytes)
	shown.Fprintf(t, "nodes\t%d\n", d.Areas.Nodes)
	shown.Fprintf(t, "edges\t%d\n", d.Areas.Edges)
	for _, p := range d.Bad {
		shown.Fprintf(t, "bad\t%s\n", p.Error)
	}
	for _, p := range d.LeftOut {
		shown.Fprintf(t, "left out\t%s: %s\n", p.File, p.Error)
	}
	return t.Flush()
}
