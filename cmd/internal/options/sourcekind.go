package options

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/datacenter"
	"lorefs/internal/origin"
)

// KindOf returns the kind of a source, which --kind can override, and takes the settings for
// it. It returns an error for flags that are for other kinds, and then also the kind.
func (f *SourceFlags) KindOf(ctx context.Context, path string, log *slog.Logger) (*kinds.Kind, error) {
	if err := f.Check(); err != nil { // before a host is asked
		return nil, err
	}
	// A host may have to be asked for the kind. Whether, how and by which cache, settings can say.
	if err := f.Settle(path, ""); err != nil {
		return nil, err
	}
	name := f.Kind
	if name == KindAuto || f.onlyDataCenters() {
		name = ""
	}
	if err := checkOrigin(path, name); err != nil {
		return nil, err
	}
	o, err := f.Parse()
	if err != nil {
		return nil, err
	}
	o.Logger = log
	if f.onlyDataCenters() && f.remote.offline { // then only the name of the kind can tell
		name = f.Kind
	}
	k, err := registry.Find(ctx, path, name, o)
	if err == nil && f.onlyDataCenters() && k.Name != f.Kind {
		err = WantsDataCenter(k)
	}
	if err == nil {
		err = f.checkKind(path, k.Name)
		if err != nil && name == "" && k.AnyFile {
			err = cmp.Or(f.ExplainKey(path, dckind.CheckDataCenter(path, o)), err)
		}
	}
	if err == nil {
		err = f.Settle(path, k.Name)
	}
	if err == nil && k.Builds {
		err = f.CASC.checkPlace(path, &f.Set)
	}
	if err == nil && f.Given("offline") && !origin.IsRemote(path) && !origin.IsRemote(f.World) {
		err = cli.UsageErrorf("--offline goes with sources that are on servers: %s is a path", path)
	}
	if err != nil {
		return k, err
	}
	if info, err := os.Stat(path); !origin.IsRemote(path) && err == nil && info.IsDir() && f.packets.Definitions != "" && k.Name == kinds.PacketsName {
		if f.Given("definitions") {
			return nil, cli.UsageErrorf("--definitions goes with a recorded session: %s is a folder", path)
		}
		f.packets.Definitions = ""
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
		return cli.UsageErrorf("%w", err)
	}
	if origin.Parse(path).Scheme == origin.CDN && kind != "" && kind != kinds.CASCName {
		return cli.UsageErrorf("--kind %s does not go with %s, which is a CASC storage", kind, origin.Shown(path))
	}
	return nil
}

// Reach returns the kind of a source, and the options of the command line and the settings for
// it. All that open sources do it with these. The kind is returned also if only the options are wrong.
func (f *SourceFlags) Reach(ctx context.Context, path string, log *slog.Logger, show func(done, total int64)) (*kinds.Kind, *kinds.Options, error) {
	k, err := f.KindOf(ctx, path, log)
	if err != nil {
		return k, nil, err
	}
	if err := f.CheckPaths(); err != nil {
		return k, nil, err
	}
	o, err := f.Options(log, show)
	if err != nil {
		return k, nil, err
	}
	for _, option := range f.Known {
		switch from := f.From[option.Name]; {
		case from != "":
			log.Info("a setting counts", "flag", "--"+option.Name, "from", from)
		case f.Flags.Changed(option.Name):
			log.Debug("an option counts", "flag", "--"+option.Name)
		}
	}
	if _, ok := f.CASC.gameBuild(&f.Set); k.Name == kinds.TablesName && !ok {
		return k, nil, cli.UsageErrorf("%s %q: want a version of the game such as 3.3.5.12340", f.spelled("build"), f.CASC.Build)
	}
	return k, o, nil
}

// WantsDataCenter returns the error for a source that is no data center.
func WantsDataCenter(k *kinds.Kind) error {
	return cli.UsageErrorf("this needs a data center, not a source of the kind %s", k.Name)
}

// ExplainKey adds a hint to the error of a data center that no key opens, which may be no
// data center at all.
func (f *SourceFlags) ExplainKey(path string, err error) error {
	if !errors.Is(err, datacenter.ErrKey) {
		return err
	}
	if f.Key != "" || f.Kind == kinds.DataCenterName {
		return &cli.Error{
			Code: cli.ExitUnknown, Err: fmt.Errorf("%s: %w", origin.Shown(path), datacenter.ErrKey),
			Hint: "--key and --iv have to be those of the client that the file is from",
		}
	}
	return &cli.Error{
		Code: cli.ExitUnknown, Err: fmt.Errorf("%s: %w, or a data center of an unknown key", origin.Shown(path), kinds.ErrUnknown),
		Hint: "--key and --iv say which",
	}
}
