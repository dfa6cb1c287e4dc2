package sheets

import (
	"context"

	"lorefs/datacenter/sheets/internal/plan"
	"lorefs/datacenter/sheets/xsd"
)

// Plan makes a sheet equal to a text, see [Source.Plan]. It has Edits for [edit.Draft.Apply], none if they
// are equal. Comments and Spellings say that the text has something that is not stored: comments, or
// numbers in another spelling than a sheet's.
type Plan = plan.Plan

// PlanOptions are the options of [Source.Plan]. A Schema has types and keys that the data center does not
// have. By default they are inferred from the text.
type PlanOptions = plan.Options

// Plan returns the edits that make a sheet of the draft equal to a text. A Sheet without
// Number is a new one, with its Name and Ordinal. file is the name for errors. Neither data
// nor the draft may change meanwhile, nor the draft before the edits are applied; the caller
// must ensure that, as [edit.Draft.ApplyPlan] does.
//
// The root element of the text must have the name of the sheet.
//
// If a sheet with this Name and Ordinal was removed, the text is compared with that, and the sheet comes back.
// So do nodes that were removed from a sheet and that the text has again.
//
// Nodes belong together if they are equal, or by their keys, by a unique id, or by their
// place. So everything that stays keeps its number, its place among its siblings, and the
// parts that it shares. The order of attributes does not count, nor that of children with
// different names, nor the spelling of a number.
//
// An attribute that exists keeps its type, unless dc:types has another one. A new attribute
// gets the type of its path in the sheets of the name, else that of opts.Schema, else one
// that fits all its values on its path in the text. Keys follow the same rule: a node that
// exists keeps them, unless it has dc:keys.
//
// Errors in the text are a [SyntaxError] or a [ValueError].
func (s *Source) Plan(ctx context.Context, sheet Sheet, file string, data []byte, opts PlanOptions) (Plan, error) {
	base := plan.Base{
		Draft: s.draft, File: s.file, Names: s.voc,
		Known: func() *xsd.ElementType { return s.knownRoot(ctx, sheet.Name) },
	}
	target := plan.Target{Number: sheet.Number, Name: sheet.Name, Ordinal: sheet.Ordinal, Addr: sheet.addr}
	if s.draft != nil && sheet.Number == 0 {
		for _, k := range s.draft.Removed(0) {
			if k.Name == sheet.Name && k.Ordinal == sheet.Ordinal {
				target.Number, target.Addr, target.Removed = k.Number, k.Addr, true
			}
		}
	}
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
