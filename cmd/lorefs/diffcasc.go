package main

import (
	"cmp"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter/diff"
	"lorefs/internal/shown"
)

// storages is run for CASC storages. done is false if there are none. A storage that is named alone
// is both sides.
func (f *differing) storages(c *cobra.Command, args []string, log *slog.Logger) (done bool, n int64, err error) {
	paths := []string{args[0], args[len(args)-1]}
	var sides [2]kinds.Build
	var others []string
	var wrong error
	for i, path := range paths {
		f.source.casc.side = i + 1
		if err := f.source.check(); err != nil {
			return true, 0, err
		}
		source, _, err := f.source.sourceOf(path, io.Discard)
		if err != nil {
			return true, 0, err
		}
		k, o, err := f.source.reach(c.Context(), source, log, silence{}.set)
		switch {
		case k == nil || k.Name != kinds.CASCName:
			others = append(others, path)
			wrong = cmp.Or(wrong, err)
		case err != nil:
			return true, 0, err
		}
		sides[i] = kinds.Build{Path: source, Options: o}
	}
	two := strings.Contains(f.source.casc.build+f.source.casc.cdn, ",")
	switch {
	case len(args) == 1 && !two:
		return true, 0, exactArgs("A", "B")(c, args)
	case len(others) == 2 && len(args) == 2:
		return false, 0, nil
	case wrong != nil:
		return true, 0, wrong
	case len(others) > 0:
		return true, 0, usageErrorf("a CASC storage can be compared with another one only: %s is none", others[0])
	case f.asPatch || f.opts != diff.Options{}:
		return true, 0, usageErrorf("--patch and --ignore-* go with data centers: %s is a CASC storage", paths[0])
	}
	n, err = f.compareBuilds(c, sides[0], sides[1])
	return true, n, err
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
