package main

import (
	"cmp"
	"context"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/internal/app/kinds"
	"lorefs/internal/formats/datacenter/diff"
	"lorefs/internal/shown"
)

// builds returns the two keys of --build OLD,NEW, or nil if it is none.
func (f *differing) builds() []string {
	keys := strings.Split(f.source.casc.build, ",")
	if len(keys) != 2 || keys[0] == "" || keys[1] == "" {
		return nil
	}
	return keys
}

// storages is run for CASC storages. done is false if there are none.
func (f *differing) storages(c *cobra.Command, args []string, log *slog.Logger) (done bool, n int64, err error) {
	builds := f.builds()
	ofOne := builds != nil
	if !ofOne {
		builds = []string{f.source.casc.build, f.source.casc.build}
	}
	f.source.casc.build = builds[0] // other readers of the option know one key only
	paths := args
	if len(args) == 1 {
		paths = []string{args[0], args[0]}
	}
	o, err := f.source.parse()
	if err != nil {
		return true, 0, err
	}
	o.Logger = log
	var others []string
	var wrong error
	for _, path := range paths {
		if k, err := kinds.Find(c.Context(), path, "", o); err != nil || k.Name != kinds.CASCName {
			others = append(others, path)
			wrong = cmp.Or(wrong, err)
		}
	}
	switch {
	case len(others) == 2 && len(args) == 2 && !ofOne:
		return false, 0, nil
	case wrong != nil:
		return true, 0, wrong
	case len(others) > 0 && ofOne:
		return true, 0, usageErrorf("--build OLD,NEW goes with a CASC storage: %s is none", others[0])
	case len(others) > 0:
		return true, 0, usageErrorf("a CASC storage can be compared with another one only: %s is none", others[0])
	case len(args) == 2 && ofOne:
		return true, 0, usageErrorf("--build OLD,NEW goes with one CASC storage, not with two")
	case f.asPatch || f.opts != diff.Options{}:
		return true, 0, usageErrorf("--patch and --ignore-* go with data centers: %s is a CASC storage", paths[0])
	}
	f.source.kind = kinds.CASCName
	var sides [2]kinds.Build
	for i, path := range paths {
		if sides[i], err = f.build(c.Context(), path, builds[i], log); err != nil {
			return true, 0, err
		}
	}
	n, err = f.compareBuilds(c, sides[0], sides[1])
	return true, n, err
}

// build returns a build of a storage with its options.
func (f *differing) build(ctx context.Context, path, key string, log *slog.Logger) (b kinds.Build, err error) {
	if _, err := f.source.kindOf(ctx, path, log); err != nil {
		return b, err
	}
	if key != "" {
		f.source.casc.build = key
	}
	o, err := f.source.options(log, silence{}.set)
	return kinds.Build{Path: path, Options: o}, err
}

// compareBuilds prints what differs between two builds, and counts it.
func (f *differing) compareBuilds(c *cobra.Command, old, now kinds.Build) (n int64, err error) {
	counts := map[string]int64{}
	for d, err := range kinds.DiffBuilds(c.Context(), old, now) {
		if err != nil {
			return n, err
		}
		n++
		counts[d.Kind]++
		if !f.asJSON {
			d.Print(f.out)
		} else if err := f.lines.Write(d); err != nil {
			return n, err
		}
	}
	if n > 0 {
		var parts []string
		for _, k := range []struct{ kind, text string }{
			{"added", "added"}, {"removed", "removed"}, {"changed", "changed"}, {"changed_or_encoded_anew", "changed, or only encoded anew"},
		} {
			if counts[k.kind] > 0 {
				parts = append(parts, shown.Plural(counts[k.kind], "file")+" "+k.text)
			}
		}
		shown.Fprintf(c.ErrOrStderr(), "%s\n", strings.Join(parts, "; "))
	}
	return n, nil
}
