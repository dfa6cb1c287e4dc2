package packetkind

import (
	"context"
	"iter"

	"lorefs/cmd/internal/kinds"
	"lorefs/protocol/dissect"
)

// lineFinding is a finding in a definition or a map as a JSON object.
type lineFinding struct {
	File string `json:"file"`
	Line int    `json:"line"`
	What string `json:"what"`
}

// verifyPackets checks every definition, and decodes every packet of a recording.
func verifyPackets(ctx context.Context, path string, o kinds.Opening, v kinds.VerifyOptions) iter.Seq2[kinds.Finding, error] {
	return func(yield func(kinds.Finding, error) bool) {
		p, err := newPackets(ctx, path, o.Options, v.Strict)
		if err != nil {
			yield(kinds.Finding{}, UnreadablePackets(path, err))
			return
		}
		defer p.Close()
		for f, err := range p.verify(ctx, o, v.Strict) {
			if err != nil {
				err = UnreadablePackets(path, err)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
		if err := p.Check(); err != nil {
			yield(kinds.Finding{}, err)
		}
	}
}

func (p *packets) verify(ctx context.Context, o kinds.Opening, strict bool) iter.Seq2[kinds.Finding, error] {
	return func(yield func(kinds.Finding, error) bool) {
		if p.lib != nil {
			patch := o.Packets.Patch
			if p.recording != nil {
				patch = p.recording.Patch()
			}
			p.fetchLibrary()
			for f, err := range dissect.VerifyLibrary(ctx, p.lib, patch, strict) {
				if !yield(kinds.Finding{Object: lineFinding{f.File, f.Line, f.What}, Line: f}, err) || err != nil {
					return
				}
			}
		}
		if p.recording == nil {
			return
		}
		for f, err := range p.recording.Verify(ctx, o.Progress) {
			if !yield(kinds.NewFinding(f.Off, true, f.Where(), f.What, f), err) || err != nil {
				return
			}
		}
	}
}
