package casckind

import (
	"context"
	"encoding/hex"
	"errors"
	iofs "io/fs"
	"iter"
	"log/slog"

	"lorefs/casc"
	"lorefs/casc/config"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/tablekind"
	"lorefs/internal/jsonout"
	"lorefs/internal/origin"
	"lorefs/nodes/casctree"
)

// cascFinding is a finding in a CASC storage as a JSON object. Fields that don't apply are
// empty or zero.
type cascFinding struct {
	Kind string `json:"kind"`
	// File is the path in a mount.
	File    string `json:"file"`
	EKey    string `json:"ekey"`
	Archive string `json:"archive"`
	Offset  int64  `json:"offset"`
	What    string `json:"what"`
}

// verifyCASC checks a storage. If it is interrupted, its error says where the next check can
// go on.
func verifyCASC(ctx context.Context, path string, o kinds.Opening, v kinds.VerifyOptions) iter.Seq2[kinds.Finding, error] {
	return func(yield func(kinds.Finding, error) bool) {
		names, err := namesOf(&o.CASC)
		if err != nil {
			yield(kinds.Finding{}, err)
			return
		}
		in, lib, err := definitionsOf(ctx, o.Options)
		if err != nil {
			yield(kinds.Finding{}, err)
			return
		}
		defer func() { _ = tablekind.CloseDefinitions(in) }() // nothing was written
		o.Logger = slog.New(slog.DiscardHandler)              // it would log what Verify finds
		c, err := newCASC(ctx, path, o, names, nil)
		if err != nil {
			yield(brokenCASC(path, err))
			return
		}
		defer c.Close()
		opts := casc.VerifyOptions{Since: v.Since}
		last := casc.Progress{At: opts.Since}
		opts.Progress = func(p casc.Progress) {
			last = p
			o.Progress(p.Done, p.Total)
		}
		for f, err := range c.storage.Verify(ctx, opts) {
			if errors.Is(err, context.Canceled) {
				yield(kinds.Finding{}, &kinds.InterruptedError{Path: path, Done: last.Done, Total: last.Total, At: last.At})
				return
			}
			if err != nil {
				yield(brokenCASC(path, err))
				return
			}
			if f.Row != nil {
				f.File = casctree.PathOf(c.storage.Kind(ctx), f.Row)
			}
			if !yield(cascFound(f), nil) {
				return
			}
		}
		stopped := false
		err = c.verifyTables(ctx, c.tableOptions(o.Options, in, lib), names, func(f kinds.Finding, err error) bool {
			stopped = !yield(f, err)
			return !stopped
		})
		if err == nil {
			err = c.Check()
		}
		if err != nil && !stopped {
			yield(kinds.Finding{}, err)
		}
	}
}

func cascFound(f casc.Finding) kinds.Finding {
	return kinds.Finding{Line: f, Object: cascFinding{
		Kind: jsonout.Word(f.Kind.String()), File: f.File, EKey: hex.EncodeToString(f.EKey),
		Archive: f.Archive, Offset: f.Off, What: f.What,
	}}
}

// brokenCASC returns damage that keeps the storage from being read, as the last finding. It
// returns an error if the cause is not damage.
func brokenCASC(path string, err error) (kinds.Finding, error) {
	_, product := errors.AsType[*config.ProductError](err)
	_, builds := errors.AsType[*config.BuildsError](err)
	_, static := errors.AsType[*casc.StaticError](err)
	if product || builds || static || errors.Is(err, context.Canceled) || errors.Is(err, iofs.ErrNotExist) || errors.Is(err, iofs.ErrPermission) {
		return kinds.Finding{}, noCASC(path, err)
	}
	if origin.IsRemote(path) { // hosts that fail are no damage
		return kinds.Finding{}, noCASC(path, err)
	}
	f := casc.Finding{Kind: casc.FindingDamaged, What: err.Error()}
	if errors.Is(err, casc.ErrNotLocal) {
		f.Kind = casc.FindingMissing
	}
	return cascFound(f), nil
}
