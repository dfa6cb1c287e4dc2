package kinds

import (
	"context"
	"io"
	"text/tabwriter"
	"time"

	"lorefs/internal/shown"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

// packetsDescription is the output of info for a recording or a folder of definitions. Its
// fields are printed in this order, and scripts rely on their names.
type packetsDescription struct {
	Recording *recordingDescription `json:"session"` // null for a folder
	Library   *libraryDescription   `json:"library"` // null for a recording without one

	SourceSize  int64     `json:"source_size"`
	SourceMtime time.Time `json:"source_mtime"`
}

type recordingDescription struct {
	Format   string `json:"format"`
	Revision string `json:"revision,omitempty"`
	Region   string `json:"region,omitempty"`
	Patch    string `json:"patch,omitempty"`
	Map      string `json:"map,omitempty"`
	// Old is true for a TeraConnectionLog whose packets have two extra bytes.
	Old        bool             `json:"old,omitempty"`
	Servers    []capture.Server `json:"servers,omitempty"`
	Incomplete string           `json:"incomplete,omitempty"`
	// First and Last are the times of the first and the last packet; null if they are
	// unknown.
	First   *time.Time `json:"first"`
	Last    *time.Time `json:"last"`
	Seconds float64    `json:"seconds"`
	dissect.Count
	Names []nameDescription `json:"names"`
}

// nameDescription describes the packets of one code.
type nameDescription struct {
	Name       string `json:"name"`
	Code       uint16 `json:"code"`
	Definition string `json:"definition,omitempty"`
	Error      string `json:"error,omitempty"` // of the definition
	dissect.Count
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
func (p *packets) Describe() (Description, error) {
	ctx := context.Background()
	d := packetsDescription{SourceSize: p.size, SourceMtime: p.since.UTC()}
	var err error
	if p.recording != nil {
		if d.Recording, err = describeRecording(ctx, p.recording); err != nil {
			return nil, err
		}
	}
	if p.lib != nil {
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

func describeRecording(ctx context.Context, s *dissect.Recording) (*recordingDescription, error) {
	info := s.Log().Info()
	d := &recordingDescription{
		Format: info.Format.String(), Revision: s.Revision(), Region: info.Region, Map: s.MapFile(),
		Old: info.Old, Servers: info.Servers, Names: []nameDescription{},
	}
	if p := s.Patch(); p != 0 {
		d.Patch = p.String()
	}
	if info.Incomplete != nil {
		d.Incomplete = info.Incomplete.Error()
	}
	if err := d.times(s.Log()); err != nil {
		return nil, err
	}
	counts, err := s.Count(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range s.Codes() {
		one := s.Code(c)
		n := nameDescription{Name: one.Name, Code: c, Count: counts[c]}
		if one.Table != nil {
			n.Definition = one.Table.Name()
		}
		if one.Err != nil {
			n.Error = one.Err.Error()
		}
		d.Names = append(d.Names, n)
		d.Add(counts[c])
	}
	return d, nil
}

// times sets the times of the first and the last packet.
func (d *recordingDescription) times(log *capture.Log) error {
	for i, at := range map[int]**time.Time{0: &d.First, log.Len() - 1: &d.Last} {
		if log.Len() == 0 {
			return nil
		}
		p, err := log.Packet(i, nil)
		if err != nil && !dissect.IsDamage(err) {
			return err
		}
		if !p.Time.IsZero() {
			*at = &p.Time
		}
	}
	if d.First != nil && d.Last != nil {
		d.Seconds = d.Last.Sub(*d.First).Seconds()
	}
	return nil
}

func (d packetsDescription) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if d.Recording != nil {
		d.Recording.print(t)
	}
	if d.Library != nil {
		shown.Fprintf(t, "definitions\t%d\n", d.Library.Definitions)
		if d.Library.Hidden > 0 {
			shown.Fprintf(t, "odd\t%d more of them have the name and version of another: verify --strict tells which\n", d.Library.Hidden)
		}
		shown.Fprintf(t, "maps\t%d\n", d.Library.Maps)
		if d.Library.Wrong > 0 {
			shown.Fprintf(t, "odd\t%d lines of them can't be made sense of: verify tells which\n", d.Library.Wrong)
		}
		if d.Library.Guessed > 0 {
			shown.Fprintf(t, "odd\t%d definitions of them are read by a guess: verify tells which\n", d.Library.Guessed)
		}
	}
	return t.Flush()
}

func (d *recordingDescription) print(t *tabwriter.Writer) {
	shown.Fprintf(t, "format\t%s\n", d.Format)
	for _, line := range []struct{ key, text string }{
		{"revision", d.Revision},
		{"region", d.Region},
		{"patch", d.Patch},
		{"map", d.Map},
		{"odd", d.Incomplete},
	} {
		if line.text != "" {
			shown.Fprintf(t, "%s\t%s\n", line.key, line.text)
		}
	}
	for _, server := range d.Servers {
		shown.Fprintf(t, "server\t%d, %q, %v\n", server.ID, server.Name, server.Addr)
	}
	if d.First != nil {
		shown.Fprintf(t, "time\t%s, %.1f s\n", d.First.Format(time.RFC3339), d.Seconds)
	}
	shown.Fprintf(t, "packets\t%d, of %d bytes\n", d.Packets, d.Bytes)
	shown.Fprintf(t, "decoded\t%d, %d failed, %d without a definition\n", d.Decoded, d.Failed, d.Unknown)
	shown.Fprintf(t, "names\t%d\n", len(d.Names))
}
