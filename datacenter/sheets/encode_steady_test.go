package sheets_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/internal/testneeds"
)

// TestReadersOfWhatIsEdited edits a sheet while others read it. Each text has to be whole, and to
// have all that was edited before it was read.
func TestReadersOfWhatIsEdited(t *testing.T) {
	testneeds.Seconds(t)
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 1, Nodes: 200, Layout: datacenter.LayoutV6X64})
	f := dctest.Open(t, dctest.Build(doc, dctest.Options{}))
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, f, d, sheets.Options{})
	sheet := first(t, s)
	var made atomic.Int64 // how many edits have been acknowledged
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var readers sync.WaitGroup
	defer readers.Wait()
	for range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				least := made.Load()
				if err := wholeText(ctx, s, sheet, least); err != nil && ctx.Err() == nil {
					t.Error(err)
					stop()
				}
			}
		})
	}
	const edits = 400
	for i := int64(1); i <= edits && ctx.Err() == nil; i++ {
		n := d.NewNumber()
		err := d.Apply(ctx,
			edit.Edit{Op: edit.AddNode, Node: n, Parent: sheet.Number, Name: "Made", Ordinal: uint32(i)},
			edit.Edit{Op: edit.SetAttribute, Node: n, Name: "number", Value: datacenter.IntValue(int32(i))},
		)
		if err != nil {
			t.Fatal(err)
		}
		made.Store(i)
		if err := wholeText(ctx, s, sheet, i); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
	stop()
}

// first returns the first sheet of a source.
func first(t *testing.T, s *sheets.Source) sheets.Sheet {
	t.Helper()
	for sheet := range s.Families()[0].Sheets(0) {
		return sheet
	}
	t.Fatal("there is no sheet")
	return sheets.Sheet{}
}

// wholeText reads a sheet by one call, and returns what is wrong with its text. It must end as a
// sheet does, have the elements up to least, and be as long as the sheet was before, after, or in
// between.
func wholeText(ctx context.Context, s *sheets.Source, sheet sheets.Sheet, least int64) error {
	before, err := s.Size(ctx, sheet)
	if err != nil {
		return err
	}
	buf := make([]byte, 1<<20)
	n, err := s.ReadAt(ctx, sheet, buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	after, err := s.Size(ctx, sheet)
	text := string(buf[:n])
	switch end := "</" + sheet.Name + ">\n"; {
	case err != nil:
		return err
	case !strings.HasSuffix(text, end):
		return fmt.Errorf("a text of %d bytes, between sizes of %d and %d, ends in %q", n, before, after, text[max(0, n-40):])
	case int64(n) < before || int64(n) > after:
		return fmt.Errorf("a text of %d bytes, between sizes of %d and %d", n, before, after)
	case least > 0 && !strings.Contains(text, fmt.Sprintf("number=\"%d\"", least)):
		return fmt.Errorf("a text of %d bytes lacks edit %d", n, least)
	}
	return nil
}
