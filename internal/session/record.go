package session

import (
	"encoding/json"
	"fmt"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/journal"
	"lorefs/internal/pending"
	"lorefs/internal/source"
)

// Journals are those of data centers.
var Journals = &pending.Kind{
	Folder: "journal",
	Digest: func(contents *journal.Contents) (pending.Summary, error) {
		d, err := digest(contents)
		return pending.Summary{Source: d.Source, Began: d.Began, Edits: d.edits, Compare: d.compare}, err
	},
}

// header is what a journal begins with.
type header struct {
	// Source is the path of the file, without links.
	Source string `json:"source"`
	pending.Identity
	// Began is when the first edit was made.
	Began time.Time `json:"began"`
}

func parseHeader(b []byte) (h header, err error) {
	if err := json.Unmarshal(b, &h); err != nil {
		return h, fmt.Errorf("not the journal of a data center: %w", err)
	}
	return h, nil
}

// Kinds of records: their first byte.
const (
	recordEdits  = 'E'
	recordSaving = 'S'
)

// summary is what a journal says, but for the edits themselves.
type summary struct {
	header
	edits int
	// saved is what the source was about to become, and behind whether edits
	// follow that: then they belong to the header's file still.
	saved  []pending.Identity
	behind bool
}

// digest reads a journal. Of a damaged one it gives what lies ahead of the damage.
func digest(contents *journal.Contents) (summary, error) {
	var d summary
	var err error
	if d.header, err = parseHeader(contents.Header()); err != nil {
		return d, err
	}
	for record, err := range contents.Records() {
		if err != nil {
			return d, err
		}
		switch record[0] {
		case recordEdits:
			n, err := datacenter.RecordEdits(record[1:])
			if err != nil {
				return d, fmt.Errorf("edit %d: %w", d.edits+n+1, err)
			}
			d.edits += n
			d.behind = true
		case recordSaving:
			var id pending.Identity
			if err := json.Unmarshal(record[1:], &id); err != nil {
				return d, fmt.Errorf("a record of saving: %w", err)
			}
			d.saved = append(d.saved, id)
			d.behind = false
		default:
			if err := pending.UnknownKind(record[0]); err != nil {
				return d, err
			}
		}
	}
	return d, contents.Damage()
}

// state compares with what the source is. Only the last save can have been
// carried out: after it nothing is added to the journal.
func (d *summary) state(now pending.Identity) pending.State {
	switch n := len(d.saved); {
	case d.edits == 0:
		return pending.Saved // the first one did not get into it
	case now == d.Identity:
		return pending.Open
	case n > 0 && now == d.saved[n-1] && !d.behind:
		return pending.Saved
	}
	return pending.Stale
}

// compare is [pending.Summary]'s.
func (d *summary) compare() (pending.State, error) {
	f, err := source.Open(d.Source)
	if err != nil {
		return pending.Stale, err
	}
	defer f.Close()
	now, err := pending.Identify(f, f.Size())
	if err != nil {
		return pending.Stale, err
	}
	return d.state(now), nil
}
