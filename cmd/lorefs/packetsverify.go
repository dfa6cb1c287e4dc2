package main

import (
	"context"

	"lorefs/protocol"
	"lorefs/protocol/dissect"
)

// jsonLineFinding is what --json prints of a finding in a definition or in a map.
type jsonLineFinding struct {
	File string `json:"file"`
	Line int    `json:"line"`
	What string `json:"what"`
}

// verifyPackets checks every definition, and every packet of a session by them.
func verifyPackets(ctx context.Context, path string, o opening, v *verifying) error {
	p, err := newPackets(ctx, path, &o.flags.packets, v.strict)
	if err != nil {
		return explainPackets(path, err)
	}
	defer p.Close()
	if p.lib != nil {
		patch := protocol.Patch(0)
		if p.session != nil {
			patch = p.session.Patch()
		} else if opts, err := o.flags.packets.options(); err == nil {
			patch = opts.Patch
		}
		for f, err := range dissect.VerifyLibrary(ctx, p.lib, patch, v.strict) {
			if err != nil {
				return explainPackets(path, err)
			}
			if more, err := v.found(jsonLineFinding{f.File, f.Line, f.What}, f); err != nil || !more {
				return err
			}
		}
	}
	if p.session != nil {
		for f, err := range p.session.Verify(ctx, o.progress) {
			if err != nil {
				return explainPackets(path, err)
			}
			if more, err := v.found(jsonFinding{f.Off, !f.Inflated, f.Where(), f.What}, f); err != nil || !more {
				return err
			}
		}
	}
	return p.check()
}
