package sheets

import (
	"context"

	"lorefs/datacenter/sheets/plan"
	"lorefs/datacenter/sheets/xsd"
)

// Plan finds out what makes a sheet of the draft equal to a text, see [plan.Make]. A Sheet
// without Number is one that is to be made, with its Name and Ordinal.
func (s *Source) Plan(ctx context.Context, sheet Sheet, file string, data []byte, opts plan.Options) (plan.Plan, error) {
	base := plan.Base{
		Draft: s.draft, File: s.file, Names: s.voc,
		Known: func() *xsd.ElementType { return s.knownRoot(ctx, sheet.Name) },
	}
	target := plan.Target{Number: sheet.Number, Name: sheet.Name, Ordinal: sheet.Ordinal, Addr: sheet.addr}
	return plan.Make(ctx, base, target, file, data, opts)
}

// knownRoot is the type of the sheets of a name, nil if there are none yet.
func (s *Source) knownRoot(ctx context.Context, name string) *xsd.ElementType {
	s.mu.RLock()
	f := s.byName[name]
	s.mu.RUnlock()
	if f == nil || f.Count() == 0 && len(f.base) == 0 {
		return nil
	}
	// If it fails, what comes to be read fails as well.
	schema, err := f.Schema(ctx)
	if err != nil {
		return nil
	}
	return schema.Root
}
