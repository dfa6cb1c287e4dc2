package kinds

import (
	"context"
	"iter"

	"lorefs/protocol/dissect"
)

// lineFinding is a finding in a definition or a map as a JSON object.
type lineFinding struct {
	File string `json:"file"`
	Line int    `json:"line"`
	What string `json:"what"`
}

// verifyPackets checks every definition, and decodes every packet of a recording.
func verifyPackets(ctx context.Context, path string, o opening, v VerifyOptions) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		p, err := newPackets(ctx, path, o.Options, v.Strict)
		if err != nil {
			yield(Finding{}, UnreadablePackets(path, err))
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
			yield(Finding{}, err)
		}
	}
}

func (p *packets) verify(ctx context.Context, o opening, strict bool) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		if p.lib != nil {
			patch := o.Packets.Patch
			if p.recording != nil {
				patch = p.recording.Patch()
			}
			p.fetchLibrary()
			for f, err := range dissect.VerifyLibrary(ctx, p.lib, patch, strict) {
				if !yield(Finding{lineFinding{f.File, f.Line, f.What}, f}, err) || err != nil {
					return
				}
			}
		}
		if p.recording == nil {
			return
		}
		for f, err := range p.recording.Verify(ctx, o.Progress) {
			if !yield(Finding{inflatedFinding{f.Off, true, f.Where(), f.What}, f}, err) || err != nil {
				return
			}
		}
	}
}
