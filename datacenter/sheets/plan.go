package sheets

import (
	"context"

	"lorefs/datacenter/sheets/plan"
	"lorefs/datacenter/sheets/xsd"
)

// Plan returns the edits that make a sheet of the draft equal to a text, see [plan.Make]. A
// Sheet without Number is a new one, with its Name and Ordinal.
func (s *Source) Plan(ctx context.Context, sheet Sheet, file string, data []byte, opts plan.Options) (plan.Plan, error) {
	base := plan.Base{
		Draft: s.draft, File: s.file, Names: s.voc,
		Known: func() *xsd.ElementType { return s.knownRoot(ctx, sheet.Name) },
	}
	target := plan.Target{Number: sheet.Number, Name: sheet.Name, Ordinal: sheet.Ordinal, Addr: sheet.addr}
	return plan.Make(ctx, base, target, file, data, opts)
}

// knownRoot returns the type of the sheets of a name, or nil if there are none yet.
func (s *Source) knownRoot(ctx context.Context, name string) *xsd.ElementType {
	s.mu.RLock()
	f := s.byName[name]
	s.mu.RUnlock()
	if f == nil || f.Count() == 0 && len(f.base) == 0 {
		return nil
	}
	// If this fails, reading the sheet will fail too.
	schema, err := f.Schema(ctx)
	if err != nil {
		return nil
	}
	return schema.Root
}
