package dckind

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/shown"
)

// dataCenterDescription is the output of info for a data center, and the content of
// datacenter.json. Its fields are printed in this order, and scripts rely on their names.
type dataCenterDescription struct {
	Version uint32 `json:"version"`
	Layout  string `json:"layout"`
	// Timestamp is null if the number in the file is NaN or infinite.
	Timestamp *float64 `json:"timestamp"`
	Revision  uint32   `json:"revision"`
	datacenter.Counts

	Time                  *time.Time `json:"time"` // what Timestamp means, or null
	Unknown               [5]int32   `json:"unknown"`
	KeyName               string     `json:"key_name"`
	KeyDefinitions        [][]string `json:"key_definitions"`
	Footer                *int32     `json:"footer"` // null if there is none
	InflatedSize          int64      `json:"inflated_size"`
	TrailingBytes         int64      `json:"trailing_bytes"`
	InflatedTrailingBytes int64      `json:"inflated_trailing_bytes"`
	SourceSize            int64      `json:"source_size"`
	SourceMtime           time.Time  `json:"source_mtime"`
}

func describeDataCenter(s *DataCenter) dataCenterDescription {
	h := s.dc.Header()
	d := dataCenterDescription{
		Version: h.Version, Layout: s.dc.Layout().String(), Revision: h.Revision, Counts: s.dc.Counts(),
		Unknown:      [5]int32{int32(h.Unknown1), int32(h.Unknown2), h.Unknown3, h.Unknown4, h.Unknown5},
		KeyName:      s.dc.Key().Name,
		InflatedSize: s.dc.Size(),
		SourceSize:   s.file.Size(), SourceMtime: s.file.ModTime().UTC(),
	}
	if !math.IsNaN(h.Timestamp) && !math.IsInf(h.Timestamp, 0) {
		d.Timestamp = &h.Timestamp
	}
	if t := h.Time(); !t.IsZero() {
		d.Time = &t
	}
	for _, def := range s.dc.KeyDefinitions() {
		d.KeyDefinitions = append(d.KeyDefinitions, def)
	}
	if marker, ok := s.dc.Footer(); ok {
		d.Footer = &marker
	}
	d.TrailingBytes, d.InflatedTrailingBytes = s.dc.TrailingBytes()
	return d
}

func (d dataCenterDescription) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	when := "none"
	if d.Time != nil {
		when = d.Time.Format(time.RFC3339)
	}
	shown.Fprintf(t, "layout\t%s\n", d.Layout)
	shown.Fprintf(t, "revision\t%d\n", d.Revision)
	shown.Fprintf(t, "timestamp\t%s\n", when)
	shown.Fprintf(t, "key\t%s\n", d.KeyName)
	shown.Fprintf(t, "file\t%d bytes, inflated %d\n", d.SourceSize, d.InflatedSize)
	shown.Fprintf(t, "nodes\t%d, stored %d\n", d.Nodes, d.StoredNodes)
	shown.Fprintf(t, "attributes\t%d, stored %d\n", d.Attributes, d.StoredAttributes)
	shown.Fprintf(t, "sheets\t%d\n", d.Sheets)
	shown.Fprintf(t, "names\t%d\n", d.Names)
	shown.Fprintf(t, "values\t%d\n", d.Values)
	shown.Fprintf(t, "key definitions\t%d\n", d.Keys)
	if odd := d.odd(); len(odd) > 0 {
		shown.Fprintf(t, "notice\t%s\n", strings.Join(odd, "; "))
	}
	return t.Flush()
}

// odd returns what is unusual about the file, as far as that is known without verify.
func (d dataCenterDescription) odd() []string {
	var odd []string
	if d.Footer == nil {
		odd = append(odd, "no footer")
	}
	if d.TrailingBytes != 0 {
		odd = append(odd, fmt.Sprintf("%s behind the end of the compressed data", shown.Plural(d.TrailingBytes, "byte")))
	}
	if d.InflatedTrailingBytes != 0 {
		odd = append(odd, fmt.Sprintf("%s behind the end of the inflated data", shown.Plural(d.InflatedTrailingBytes, "byte")))
	}
	return odd
}
