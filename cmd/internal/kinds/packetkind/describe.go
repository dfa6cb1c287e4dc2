package packetkind

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/internal/shown"
	"lorefs/protocol/dissect"
)

// packetsDescription is the output of info for a recording or a folder of definitions. Its
// fields are printed in this order, and scripts rely on their names.
type packetsDescription struct {
	Recording *dissect.Summary    `json:"session"` // null for a folder
	Library   *libraryDescription `json:"library"` // null for a recording without one

	SourceSize  int64     `json:"source_size"`
	SourceMtime time.Time `json:"source_mtime"`
}

type libraryDescription struct {
	Definitions int `json:"definitions"`
	// Hidden counts definitions that are not used because others have their names.
	Hidden int `json:"hidden,omitempty"`
	Maps   int `json:"maps"`
	// Wrong counts lines that can't be read, and Guessed parts of definitions that are read
	// by a guess.
	Wrong   int `json:"wrong"`
	Guessed int `json:"guessed,omitempty"`
}

// Describe decodes every packet and reads every definition, to count them.
func (p *packets) Describe() (kinds.Description, error) {
	ctx := context.Background()
	d := packetsDescription{SourceSize: p.size, SourceMtime: p.since.UTC()}
	var err error
	if p.recording != nil {
		if d.Recording, err = p.recording.Summary(ctx); err != nil {
			return nil, err
		}
	}
	if p.lib != nil {
		p.fetchLibrary()
		d.Library = &libraryDescription{Definitions: len(p.lib.Definitions()), Hidden: len(p.lib.Hidden()), Maps: len(p.lib.Maps())}
		for f, err := range dissect.VerifyLibrary(ctx, p.lib, 0, false) {
			if err != nil {
				return nil, err
			}
			if f.Guess {
				d.Library.Guessed++
			} else {
				d.Library.Wrong++
			}
		}
	}
	return d, p.Check()
}

func (d packetsDescription) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if d.Recording != nil {
		printRecording(t, d.Recording)
	}
	if d.Library != nil {
		shown.Fprintf(t, "definitions\t%d\n", d.Library.Definitions)
		if d.Library.Hidden > 0 {
			shown.Fprintf(t, "notice\t%d more of them have the name and version of another: verify --strict tells which\n", d.Library.Hidden)
		}
		shown.Fprintf(t, "maps\t%d\n", d.Library.Maps)
		if d.Library.Wrong > 0 {
			shown.Fprintf(t, "notice\t%d lines of them can't be made sense of: verify tells which\n", d.Library.Wrong)
		}
		if d.Library.Guessed > 0 {
			shown.Fprintf(t, "notice\t%d definitions of them are read by a guess: verify tells which\n", d.Library.Guessed)
		}
	}
	return t.Flush()
}

func printRecording(t io.Writer, d *dissect.Summary) {
	shown.Fprintf(t, "format\t%s\n", d.Format)
	for _, line := range []struct{ key, text string }{
		{"revision", d.Revision},
		{"region", d.Region},
		{"patch", d.Patch},
		{"map", d.Map},
		{"notice", d.Incomplete},
	} {
		if line.text != "" {
			shown.Fprintf(t, "%s\t%s\n", line.key, line.text)
		}
	}
	if d.First != nil {
		shown.Fprintf(t, "time\t%s, %.1f s\n", d.First.Format(time.RFC3339), d.Seconds)
	}
	shown.Fprintf(t, "packets\t%d, of %d bytes\n", d.Packets, d.Bytes)
	shown.Fprintf(t, "decoded\t%d, %d failed, %d without a definition\n", d.Decoded, d.Failed, d.Unknown)
	if d.Seconds > 0 {
		shown.Fprintf(t, "rate\t%s\n", rate(&d.Span))
	}
	for i := range d.Directions {
		one := &d.Directions[i]
		printPackets(t, cmp.Or(one.From, "no sender"), &one.Count, &one.Span)
	}
	shown.Fprintf(t, "names\t%d\n", len(d.Names))
	most := slices.SortedStableFunc(slices.Values(d.Names), func(a, b dissect.NameSummary) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for i := range most[:min(len(most), infoNames)] {
		printPackets(t, "  "+most[i].Name, &most[i].Count, &most[i].Span)
	}
	if n := len(most) - infoNames; n > 0 {
		shown.Fprintf(t, "  ...\t%d more: --json has all, and when how many packets were sent\n", n)
	}
}

// infoNames is of how many names info prints the packets: of those with the most bytes.
const infoNames = 20

func printPackets(t io.Writer, of string, c *dissect.Count, s *dissect.Span) {
	shown.Fprintf(t, "%s\t%d, of %d bytes", of, c.Packets, c.Bytes)
	if s.PacketsPerSecond > 0 {
		shown.Fprintf(t, ", %s", rate(s))
	}
	shown.Fprintf(t, "\n")
}

func rate(s *dissect.Span) string {
	return fmt.Sprintf("%.1f packets and %.0f bytes a second", s.PacketsPerSecond, s.BytesPerSecond)
}
