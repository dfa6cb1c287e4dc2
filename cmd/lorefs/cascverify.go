package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"

	"lorefs/casc"
)

// jsonCASCFinding is what --json prints of a finding in a CASC storage. What does not
// apply is empty or zero.
type jsonCASCFinding struct {
	Kind    string `json:"kind"`
	File    string `json:"file"`
	EKey    string `json:"ekey"`
	Archive string `json:"archive"`
	Offset  int64  `json:"offset"`
	What    string `json:"what"`
}

// verifyCASC checks a storage. When it is interrupted, it tells how to go on.
func verifyCASC(ctx context.Context, path string, o opening, v *verifying) error {
	var opts casc.VerifyOptions
	var err error
	if v.since != "" {
		if opts.Since, err = casc.ParsePlace(v.since); err != nil {
			return usageErrorf("--since %q: want ARCHIVE:OFFSET, as verify tells when it is interrupted", v.since)
		}
	}
	names, err := o.flags.casc.names()
	if err != nil {
		return err
	}
	o.log = slog.New(slog.DiscardHandler) // what it would tell of are findings
	c, err := newCASC(path, o, names, nil)
	if err != nil {
		return v.broken(explainCASC(path, err), err)
	}
	defer c.Close()
	last := casc.Progress{At: opts.Since}
	opts.Progress = func(p casc.Progress) {
		last = p
		o.progress(p.Done, p.Total)
	}
	for f, err := range c.storage.Verify(ctx, opts) {
		if errors.Is(err, context.Canceled) {
			return &commandError{
				code: exitInterrupted, err: fmt.Errorf("%s: interrupted after %d of %d bytes", path, last.Done, last.Total),
				hint: fmt.Sprintf("--since %v goes on there", last.At),
			}
		}
		if err != nil {
			return v.broken(explainCASC(path, err), err)
		}
		if more, err := v.casc(f); err != nil || !more {
			return err
		}
	}
	return c.check()
}

// casc shows a finding, and tells whether to go on.
func (v *verifying) casc(f casc.Finding) (more bool, err error) {
	return v.found(jsonCASCFinding{
		Kind: f.Kind.String(), File: f.File, EKey: hex.EncodeToString(f.EKey),
		Archive: f.Archive, Offset: f.Off, What: f.What,
	}, f)
}

// broken shows damage that nothing can be read behind as the last finding. What is no
// damage is told as an error.
func (v *verifying) broken(told, err error) error {
	_, product := errors.AsType[*casc.ProductError](err)
	_, builds := errors.AsType[*casc.BuildsError](err)
	_, command := errors.AsType[*commandError](err)
	if product || builds || command || errors.Is(err, context.Canceled) || errors.Is(err, iofs.ErrNotExist) || errors.Is(err, iofs.ErrPermission) {
		return told
	}
	f := casc.Finding{Kind: casc.FindingDamaged, What: err.Error()}
	if errors.Is(err, casc.ErrNotLocal) {
		f.Kind = casc.FindingMissing
	}
	_, err = v.casc(f)
	return err
}
