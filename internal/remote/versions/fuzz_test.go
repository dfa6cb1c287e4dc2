package versions

import (
	"strings"
	"testing"

	"lorefs/internal/remote"
)

// FuzzTables checks that no row without an error makes a place that may not be asked.
func FuzzTables(f *testing.F) {
	f.Add("Region!STRING:0|BuildConfig!HEX:16|CDNConfig!HEX:16\nus|"+strings.Repeat("0a", 16)+"|"+strings.Repeat("0b", 16)+"\n",
		"Name!STRING:0|Path!STRING:0|Hosts!STRING:0\nus|tpr/x|a.example.com\n")
	f.Add("## x\n\n|||", "<html>")
	f.Fuzz(func(t *testing.T, versions, cdns string) {
		builds, err := parseVersions([]byte(versions), "p")
		if err != nil && builds != nil {
			t.Error("builds and an error")
		}
		for _, b := range builds {
			if b.bad == nil && b.BuildConfig == (remote.Key{}) && !strings.Contains(versions, "00") {
				t.Errorf("a build without key: %+v", b)
			}
		}
		places, err := parseCDNs([]byte(cdns))
		if err != nil {
			return
		}
		for name, p := range places {
			if p.bad == nil && p.noPlace == nil && (len(p.Hosts) == 0 || p.Path == "") {
				t.Errorf("%q lies at %+v", name, p)
			}
			if p.bad == nil && p.Path != "" && (remote.CheckPath(p.Path) != nil || strings.Contains(p.Path, "..")) {
				t.Errorf("%q lies at %+v", name, p)
			}
			for _, h := range p.Hosts {
				if _, err := remote.ParseListed(h.URL); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
