package casckind

import (
	"errors"
	"testing"

	"lorefs/casc"
	"lorefs/casc/config"
	"lorefs/casc/keys"
)

// TestPickBuild checks which build of a list options name.
func TestPickBuild(t *testing.T) {
	t.Parallel()
	old, now, twin, other := keys.Key{1}, keys.Key{2}, keys.Key{3}, keys.Key{9}
	list := []config.Build{
		{Product: "p", Version: "1.0.0.41", BuildKey: old, CDNKey: keys.Key{11}},
		{Product: "p", Version: "1.0.0.42", BuildKey: now, CDNKey: keys.Key{12}, Active: true},
		{Product: "q", Version: "1.0.0.42", BuildKey: twin, CDNKey: keys.Key{13}},
	}
	for name, c := range map[string]struct {
		opts       casc.Options
		build, cdn keys.Key
	}{
		"none":           {casc.Options{}, now, keys.Key{12}},
		"version":        {casc.Options{BuildName: "1.0.0.41"}, old, keys.Key{11}},
		"number":         {casc.Options{BuildName: "41"}, old, keys.Key{11}},
		"key":            {casc.Options{BuildKey: old}, old, keys.Key{11}},
		"name and CDN":   {casc.Options{BuildName: "41", CDNKey: keys.Key{14}}, old, keys.Key{14}},
		"of two":         {casc.Options{BuildName: "1.0.0.42"}, keys.Key{}, keys.Key{}},
		"unknown":        {casc.Options{BuildName: "4"}, keys.Key{}, keys.Key{}},
		"not listed":     {casc.Options{BuildKey: other}, keys.Key{}, keys.Key{}},
		"not listed CDN": {casc.Options{BuildKey: other, CDNKey: keys.Key{14}}, other, keys.Key{14}},
	} {
		b, err := pickBuild(list, &c.opts)
		if c.build.IsZero() {
			if named, is := errors.AsType[*config.NameError](err); err == nil || is && (named.Several != (name == "of two")) {
				t.Errorf("%s: %v, %v", name, b, err)
			}
			continue
		}
		if err != nil || b.BuildKey != c.build || b.CDNKey != c.cdn {
			t.Errorf("%s: %v %v, %v", name, b.BuildKey, b.CDNKey, err)
		}
	}
}
