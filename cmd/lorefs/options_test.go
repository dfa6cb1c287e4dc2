package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"lorefs/casc"
)

// TestPassOn checks that options that are passed to another process have the same effect
// there, each once, and that keys do not become arguments, which other users can see.
func TestPassOn(t *testing.T) {
	flags := func() (*sourceFlags, *pflag.FlagSet) {
		var f sourceFlags
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.add(set)
		return &f, set
	}
	from, fromSet := flags()
	for _, o := range from.known {
		values := []string{"1M"} // valid for each type but bool
		switch o.value.(type) {
		case *bool:
			values = []string{"true"}
		case *[]string:
			values = []string{"a,b", "c"}
		}
		for _, v := range values {
			if err := fromSet.Set(o.name, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	args, env := from.passOn()
	to, toSet := flags()
	if err := toSet.Parse(args); err != nil {
		t.Fatal(err)
	}
	for _, o := range to.known {
		want := fromSet.Lookup(o.name).Value.String()
		if o.variable == "" {
			if got := toSet.Lookup(o.name).Value.String(); got != want {
				t.Errorf("--%s is %s there, want %s", o.name, got, want)
			}
			continue
		}
		if !slices.Contains(env, o.variable+"="+want) || strings.Contains(strings.Join(args, " "), "--"+o.name+"=") {
			t.Errorf("--%s is not passed on by the environment alone: %q, %q", o.name, args, env)
		}
	}
	none, noneSet := flags()
	if err := noneSet.Set("missing", missingHide); err != nil {
		t.Fatal(err)
	}
	if args, env := none.passOn(); len(args)+len(env) > 0 {
		t.Errorf("defaults are passed on: %q, %q", args, env)
	}
}

// TestCASCKeyFlags checks that --build and --cdn both count, also if they are the same key.
func TestCASCKeyFlags(t *testing.T) {
	for _, c := range []struct{ build, cdn casc.Key }{{casc.Key{1}, casc.Key{1}}, {casc.Key{1}, casc.Key{2}}, {casc.Key{1}, casc.Key{}}, {casc.Key{}, casc.Key{2}}} {
		f := cascFlags{}
		if !c.build.IsZero() {
			f.build = c.build.String()
		}
		if !c.cdn.IsZero() {
			f.cdn = c.cdn.String()
		}
		if o, err := f.parse(); err != nil || o.Storage.BuildKey != c.build || o.Storage.CDNKey != c.cdn {
			t.Errorf("--build %q --cdn %q: %v, %v, %v", f.build, f.cdn, o.Storage.BuildKey, o.Storage.CDNKey, err)
		}
	}
}
