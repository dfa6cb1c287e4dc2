package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"lorefs/casc"
	"lorefs/datacenter"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/kinds"
	"lorefs/internal/pending"
	"lorefs/protocol/capture"
)

// kindOf finds out what a source is, unless --kind says so, and refuses options that are for
// other kinds.
func (f *sourceFlags) kindOf(path string) (*kinds.Kind, error) {
	name := f.kind
	if name == kindAuto {
		name = ""
	}
	k, err := kinds.Find(path, name)
	if err == nil {
		err = f.checkKind(path, k)
	}
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() && f.packets.definitions != "" {
		return nil, usageErrorf("--definitions goes with a recorded session: %s is a folder", path)
	}
	return k, nil
}

// openSource opens a source of whatever kind. show is told how far the first pass over
// it is.
func openSource(ctx context.Context, path string, f *sourceFlags, log *slog.Logger, show func(done, total int64)) (*kinds.Source, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	k, err := f.kindOf(path)
	if err != nil {
		return nil, err
	}
	o, err := f.options(log, show)
	if err != nil {
		return nil, err
	}
	s, err := k.Open(ctx, path, o)
	return s, f.explain(path, err)
}

// openShown is openSource with a bar on the terminal.
func openShown(ctx context.Context, path string, f *sourceFlags, log *slog.Logger) (*kinds.Source, error) {
	p := newProgress("inflating")
	defer p.finish()
	return openSource(ctx, path, f, log, p.set)
}

// dataCenterOf is a source as what it has to be.
func dataCenterOf(s *kinds.Source) (*kinds.DataCenter, error) {
	d, ok := s.DataCenter()
	if !ok {
		return nil, usageErrorf("this needs a data center, not a source of the kind %s", s.Kind.Name)
	}
	return d, nil
}

// complete is an error if names below a path are missing, of which the log told.
func complete(s *kinds.Source, path string) error {
	if s.Complete(path) {
		return nil
	}
	return &commandError{code: exitFailure}
}

// edit makes a source editable.
func edit(ctx context.Context, path string, s *kinds.Source, f *sourceFlags, o kinds.EditOptions) error {
	err := s.Edit(ctx, o)
	if errors.Is(err, kinds.ErrReadOnly) {
		return usageErrorf("--rw: sources of the kind %s can't be edited", s.Kind.Name)
	}
	return f.explain(path, err)
}

// explain says what can be done about a source that can't be read or edited.
func (f *sourceFlags) explain(path string, err error) error {
	if e, ok := errors.AsType[*kinds.InterruptedError](err); ok {
		return &commandError{code: exitInterrupted, err: e, hint: fmt.Sprintf("--since %v goes on there", e.At)}
	}
	e, ok := errors.AsType[*kinds.Error](err)
	if !ok {
		return err
	}
	if e.Option != "" {
		err = fmt.Errorf("--%w", err)
	}
	switch {
	case errors.Is(err, datacenter.ErrKey):
		return f.explainKey(path)
	case errors.Is(err, capture.ErrUnknown):
		return &commandError{code: exitKey, err: err}
	}
	if told := explainChoice(err); told != nil {
		return told
	}
	return explainEdits(err)
}

// explainKey is about a data center that no key opens, or what was taken for one.
func (f *sourceFlags) explainKey(path string) error {
	if f.key != "" || f.kind == kinds.DataCenterName {
		return &commandError{
			code: exitKey, err: fmt.Errorf("%s: %w", path, datacenter.ErrKey),
			hint: "--key and --iv have to be those of the client that the file is from",
		}
	}
	return &commandError{
		code: exitKey, err: fmt.Errorf("%s: not a source that lorefs knows, or a data center of an unknown key", path),
		hint: "--key and --iv say which",
	}
}

// explainChoice is about a CASC storage that holds several things; nil if that is no trouble.
func explainChoice(err error) error {
	if _, ok := errors.AsType[*casc.ProductError](err); ok {
		return &commandError{code: exitUsage, err: err, hint: "--product says which"}
	}
	if e, ok := errors.AsType[*casc.NoConfigError](err); ok {
		return &commandError{code: exitSource, err: err, hint: fmt.Sprintf("--product %s opens another", e.Others[0])}
	}
	if e, ok := errors.AsType[*casc.BuildsError](err); ok && len(e.Builds) > 1 {
		return &commandError{code: exitUsage, err: err, hint: "--build says which"}
	}
	return nil
}

// explainEdits is about edits that were left behind.
func explainEdits(err error) error {
	if e, ok := errors.AsType[*kinds.UnnamedEditsError](err); ok {
		return &commandError{code: exitUnsaved, err: err, hint: "lorefs journal replay " + e.Folder + " saves them"}
	}
	_, unsupported := errors.AsType[*journal.UnsupportedError](err)
	switch {
	case errors.Is(err, pending.ErrStale):
		hint := "to have them back, put the file back that they were made on"
		if stale, ok := errors.AsType[*pending.StaleError](err); ok && stale.Backup != "" {
			hint += ", which is " + stale.Backup
		}
		return &commandError{code: exitUnsaved, err: err, hint: hint + "; to give them up, use lorefs journal drop"}
	case errors.Is(err, filelock.ErrLocked):
		return &commandError{
			code: exitBusy, err: fmt.Errorf("somebody edits it already: %w", err),
			hint: "after umount(8) it is being saved for some seconds; lorefs unmount waits for that",
		}
	case unsupported:
		return &commandError{code: exitUnsaved, err: err, hint: "a later version of lorefs wrote the journal, which is kept: use that one"}
	case errors.Is(err, journal.ErrDamaged):
		return &commandError{code: exitUnsaved, err: err, hint: "all of it is kept; lorefs journal replay --salvage saves what lies before the damage, " +
			"and keeps the rest beside the journal; lorefs journal drop gives all up"}
	}
	return &commandError{code: exitSource, err: err}
}
