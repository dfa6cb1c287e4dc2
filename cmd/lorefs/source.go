package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter"
	"lorefs/internal/origin"
	"lorefs/internal/shown"
)

// kindOf returns the kind of a source, which --kind can override, and takes the settings for
// it. It returns an error for flags that are for other kinds, and then also the kind.
func (f *sourceFlags) kindOf(ctx context.Context, path string, log *slog.Logger) (*kinds.Kind, error) {
	if err := f.check(); err != nil { // before a host is asked
		return nil, err
	}
	// A host may have to be asked for the kind. Whether, how and by which cache, settings can say.
	if err := f.settle(path, ""); err != nil {
		return nil, err
	}
	name := f.kind
	if name == kindAuto || f.onlyDataCenters() {
		name = ""
	}
	if err := checkOrigin(path, name); err != nil {
		return nil, err
	}
	o, err := f.parse()
	if err != nil {
		return nil, err
	}
	o.Logger = log
	if f.onlyDataCenters() && f.remote.offline { // then only the name of the kind can tell
		name = f.kind
	}
	k, err := kinds.Find(ctx, path, name, o)
	if err == nil && f.onlyDataCenters() && k.Name != f.kind {
		err = wantsDataCenter(k)
	}
	if err == nil {
		err = f.checkKind(path, k.Name)
		if err != nil && name == "" && k.Name == kinds.DataCenterName { // which any file is taken for
			err = cmp.Or(f.explainKey(path, kinds.CheckDataCenter(path, o)), err)
		}
	}
	if err == nil {
		err = f.settle(path, k.Name)
	}
	if err == nil && k.Name == kinds.CASCName {
		err = f.casc.checkPlace(path, &f.optionSet)
	}
	if err == nil && f.given("offline") && !origin.IsRemote(path) && !origin.IsRemote(f.world) {
		err = usageErrorf("--offline goes with sources that are on servers: %s is a path", path)
	}
	if err != nil {
		return k, err
	}
	if info, err := os.Stat(path); !origin.IsRemote(path) && err == nil && info.IsDir() && f.packets.definitions != "" {
		if f.given("definitions") {
			return nil, usageErrorf("--definitions goes with a recorded session: %s is a folder", path)
		}
		f.packets.definitions = ""
	}
	return k, nil
}

// checkOrigin returns an error for the address of a server that can't be one, or that can't have
// sources of a kind.
func checkOrigin(path, kind string) error {
	if !origin.IsRemote(path) {
		return nil
	}
	if err := origin.Parse(path).Check(); err != nil {
		return usageErrorf("%w", err)
	}
	if origin.Parse(path).Scheme == origin.CDN && kind != "" && kind != kinds.CASCName {
		return usageErrorf("--kind %s does not go with %s, which is a CASC storage", kind, origin.Shown(path))
	}
	return nil
}

// reach returns the kind of a source, and the options of the command line and the settings for
// it. All that open sources do it with these. The kind is returned also if only the options are wrong.
func (f *sourceFlags) reach(ctx context.Context, path string, log *slog.Logger, show func(done, total int64)) (*kinds.Kind, *kinds.Options, error) {
	k, err := f.kindOf(ctx, path, log)
	if err != nil {
		return k, nil, err
	}
	if err := f.checkPaths(); err != nil {
		return k, nil, err
	}
	o, err := f.options(log, show)
	if err != nil {
		return k, nil, err
	}
	for _, option := range f.known {
		switch from := f.from[option.name]; {
		case from != "":
			log.Info("a setting counts", "flag", "--"+option.name, "from", from)
		case f.flags.Changed(option.name):
			log.Debug("an option counts", "flag", "--"+option.name)
		}
	}
	return k, o, nil
}

// openSource opens a source of any kind. show is called with the progress of the first pass
// over it.
func openSource(ctx context.Context, path string, f *sourceFlags, log *slog.Logger, show func(done, total int64)) (*kinds.Source, error) {
	k, o, err := f.reach(ctx, path, log, show)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	s, err := k.Open(ctx, path, o)
	if err == nil {
		log.Info("opened", "source", origin.Shown(path), "kind", k.Name, "seconds", fmt.Sprintf("%.2f", time.Since(began).Seconds()))
	}
	return s, f.explainKey(path, err)
}

// opening says what takes long when a source is opened.
func opening(path string) string {
	if origin.IsRemote(path) {
		return "fetching"
	}
	return "inflating"
}

// openShown calls openSource with a progress bar.
func openShown(ctx context.Context, path string, f *sourceFlags, log *slog.Logger) (*kinds.Source, error) {
	p := newProgress(opening(path))
	defer p.finish()
	return openSource(ctx, path, f, log, p.set)
}

// dataCenterOf returns a source as a data center, or an error for users.
func dataCenterOf(s *kinds.Source) (*kinds.DataCenter, error) {
	d, ok := s.DataCenter()
	if !ok {
		return nil, wantsDataCenter(s.Kind)
	}
	return d, nil
}

func wantsDataCenter(k *kinds.Kind) error {
	return usageErrorf("this needs a data center, not a source of the kind %s", k.Name)
}

// tellNames says on w, once and if warnings are wanted, that names are sought at paths of a source
// that has numbers in place of names.
func tellNames(w io.Writer, log *slog.Logger, s *kinds.Source, paths ...string) {
	for _, name := range paths {
		if hint := s.NamesHint(name); hint != "" && log.Enabled(context.Background(), slog.LevelWarn) {
			shown.Fprintf(w, "lorefs: %s\n", hint)
			return
		}
	}
}

// complete returns an error if names below a path are missing. The log has said which.
func complete(s *kinds.Source, path string) error {
	if s.Complete(path) {
		return nil
	}
	return &commandError{code: exitFailure}
}

func makeEditable(ctx context.Context, s *kinds.Source, o kinds.EditOptions) error {
	err := s.Edit(ctx, o)
	switch {
	case errors.Is(err, kinds.ErrReadOnly):
		return notEditable(s.Kind)
	case errors.Is(err, kinds.ErrNotLocal):
		return usageErrorf("%w", err)
	}
	return err
}

func notEditable(k *kinds.Kind) error {
	return usageErrorf("sources of the kind %s can't be edited", k.Name)
}

// explainKey adds a hint to the error of a data center that no key opens, which may be no
// data center at all.
func (f *sourceFlags) explainKey(path string, err error) error {
	if !errors.Is(err, datacenter.ErrKey) {
		return err
	}
	if f.key != "" || f.kind == kinds.DataCenterName {
		return &commandError{
			code: exitUnknown, err: fmt.Errorf("%s: %w", origin.Shown(path), datacenter.ErrKey),
			hint: "--key and --iv have to be those of the client that the file is from",
		}
	}
	return &commandError{
		code: exitUnknown, err: fmt.Errorf("%s: %w, or a data center of an unknown key", origin.Shown(path), kinds.ErrUnknown),
		hint: "--key and --iv say which",
	}
}
