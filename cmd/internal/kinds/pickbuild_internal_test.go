package kinds

import (
	"errors"
	"testing"

	"lorefs/casc"
)

// TestPickBuild checks which build of a list options name.
func TestPickBuild(t *testing.T) {
	t.Parallel()
	old, now, twin, other := casc.Key{1}, casc.Key{2}, casc.Key{3}, casc.Key{9}
	list := []casc.Build{
		{Product: "p", Version: "1.0.0.41", BuildKey: old, CDNKey: casc.Key{11}},
		{Product: "p", Version: "1.0.0.42", BuildKey: now, CDNKey: casc.Key{12}, Active: true},
		{Product: "q", Version: "1.0.0.42", BuildKey: twin, CDNKey: casc.Key{13}},
	}
	for name, c := range map[string]struct {
		opts       casc.Options
		build, cdn casc.Key
	}{
		"none":           {casc.Options{}, now, casc.Key{12}},
		"version":        {casc.Options{BuildName: "1.0.0.41"}, old, casc.Key{11}},
		"number":         {casc.Options{BuildName: "41"}, old, casc.Key{11}},
		"key":            {casc.Options{BuildKey: old}, old, casc.Key{11}},
		"name and CDN":   {casc.Options{BuildName: "41", CDNKey: casc.Key{14}}, old, casc.Key{14}},
		"of two":         {casc.Options{BuildName: "1.0.0.42"}, casc.Key{}, casc.Key{}},
		"unknown":        {casc.Options{BuildName: "4"}, casc.Key{}, casc.Key{}},
		"not listed":     {casc.Options{BuildKey: other}, casc.Key{}, casc.Key{}},
		"not listed CDN": {casc.Options{BuildKey: other, CDNKey: casc.Key{14}}, other, casc.Key{14}},
	} {
		b, err := pickBuild(list, &c.opts)
		if c.build.IsZero() {
			if named, is := errors.AsType[*casc.NameError](err); err == nil || is && (named.Several != (name == "of two")) {
				t.Errorf("%s: %v, %v", name, b, err)
			}
			continue
		}
		if err != nil || b.BuildKey != c.build || b.CDNKey != c.cdn {
			t.Errorf("%s: %v %v, %v", name, b.BuildKey, b.CDNKey, err)
		}
	}
}
