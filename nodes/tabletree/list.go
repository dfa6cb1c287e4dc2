package tabletree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"lorefs/casc/db2/dbd"
	"lorefs/internal/flight"
	"lorefs/nodes"
)

// Summary is what tables.json says of a table. Its fields are in this order, and scripts rely on their
// names.
type Summary struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	FileID uint32 `json:"file_data_id,omitempty"`
	Format string `json:"format,omitempty"`
	Layout string `json:"layout,omitempty"`
	// Definition says by what the version of the definition was chosen, and Unnamed why there is
	// none.
	Definition dbd.By `json:"definition,omitempty"`
	Unnamed    string `json:"unnamed,omitempty"`
	Rows       int    `json:"rows"`
	// Hidden are the rows that are left out, by the key that is missing.
	Hidden []HiddenRows `json:"hidden,omitempty"`
	// Doubles and Lost are as in [db2.View].
	Doubles int    `json:"doubles,omitempty"`
	Lost    int    `json:"lost,omitempty"`
	Error   string `json:"error,omitempty"`
}

// HiddenRows are rows of a table that need a key.
type HiddenRows struct {
	Key  string `json:"key"`
	Rows int    `json:"rows"`
}

// list is the content of tables.json.
type list struct {
	loads flight.Group[int, []byte]

	mu   sync.Mutex // guards text
	text []byte
}

func (l *list) known() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

// listText returns the content of tables.json, for which each table is opened once.
func (t *Tree) listText(ctx context.Context) ([]byte, error) {
	if text := t.list.known(); text != nil {
		return text, nil
	}
	return t.list.loads.Do(ctx, 0, func(ctx context.Context) ([]byte, error) {
		text := []byte("[")
		for i := range t.tables {
			s, err := t.Summary(ctx, i)
			if err != nil {
				return nil, err
			}
			line, err := json.Marshal(s)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				text = append(text, ',')
			}
			text = append(append(text, '\n'), line...)
		}
		text = append(text, "\n]\n"...)
		t.list.mu.Lock()
		defer t.list.mu.Unlock()
		t.list.text = text
		return text, nil
	})
}

// Len returns how many tables there are.
func (t *Tree) Len() int { return len(t.tables) }

// Summary says what is known of a table. A table that can't be read has an error in it; the error
// that is returned is one of the source, or the end of ctx.
func (t *Tree) Summary(ctx context.Context, i int) (Summary, error) {
	s := Summary{Name: t.tables[i].Name, File: t.tables[i].File, FileID: t.tables[i].FileID}
	one, err := t.Open(ctx, i)
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case errors.Is(err, nodes.ErrChanged):
		return s, err
	case err != nil:
		s.Error = err.Error()
		return s, nil
	}
	s.Format, s.Rows, s.Definition, s.Doubles, s.Lost = one.Table.Magic, one.Len(), one.By, one.Doubles, one.Lost
	if one.Table.Layout != 0 {
		s.Layout = fmt.Sprintf("%08X", one.Table.Layout)
	}
	if one.Why != nil {
		s.Unnamed = one.Why.Error()
	}
	for _, h := range one.Table.Hidden() {
		s.Hidden = append(s.Hidden, HiddenRows{fmt.Sprintf("%016X", h.Key), h.Rows})
	}
	return s, nil
}
