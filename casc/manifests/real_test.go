package manifests_test

import (
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/casc/casctest"
	"lorefs/casc/manifests"
)

func TestRealInstalls(t *testing.T) {
	for file, want := range map[string]struct{ tags, entries int }{
		"cascette-rs/install/classic_4.4.0_v1.install":             {27, 182},
		"cascette-rs/install/classic_era_1.15.7_v1.install":        {29, 240},
		"cascette-py/314436cc1adeed58d203bf32402cc1bc.install.dec": {0, 0},
	} {
		m, err := manifests.ParseInstall(casctest.Fixture(t, file))
		if err != nil || want.tags > 0 && (len(m.Tags) != want.tags || len(m.Entries) != want.entries) || len(m.Entries) == 0 {
			t.Errorf("%s: %v", file, err)
			continue
		}
		tag := slices.IndexFunc(m.Tags, func(t manifests.Tag) bool { return t.Name == "Windows" })
		if tag < 0 || m.Tags[tag].Type != manifests.TagPlatform {
			t.Fatalf("%s: no tag Windows", file)
		}
		exe := 0
		for i := range m.Tags[tag].Entries() {
			if i >= len(m.Entries) {
				t.Fatalf("%s: entry %d is tagged", file, i)
			}
			if strings.HasSuffix(m.Entries[i].Name, ".exe") {
				exe++
			}
			if strings.Contains(m.Entries[i].Name, ".app/") || strings.Contains(m.Entries[i].Name, `.app\`) {
				t.Errorf("%s: %s is tagged Windows", file, m.Entries[i].Name)
			}
		}
		if exe == 0 {
			t.Errorf("%s: no .exe is tagged Windows", file)
		}
	}
}

func TestRealDownload(t *testing.T) {
	m, err := manifests.ParseDownload(casctest.Fixture(t, "cascette-rs/download/classic_era_1.15.7_v1_100entries.download"))
	if err != nil || m.Version != 1 || m.Len() != 100 || len(m.Tags) != 29 {
		t.Fatalf("%+v, %v", m, err)
	}
	for e := range m.Entries() {
		if e.EKey.IsZero() || e.Size <= 0 || e.Priority < 0 || len(e.Flags) > 0 {
			t.Errorf("%+v", e)
		}
	}
}

func TestRealPatches(t *testing.T) {
	for file, files := range map[string]int{
		"e3fffe04f64007852408b86e44d91e5a": 50, "aaad2399821319140599c508abd54c9c": 112, "071290388e1f3b898157c372f03bc435": 19,
	} {
		m, err := manifests.ParsePatch(casctest.Fixture(t, "cascette-rs/patch_archive/"+file+".bin"))
		if err != nil || m.Version != 2 || len(m.Files) != files || m.Key.String() != file {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if _, err := blte.ParseSpec(m.Encoding.Name); err != nil || m.Encoding.Size == 0 {
			t.Errorf("%s: encoding %+v, %v", file, m.Encoding, err)
		}
		for _, f := range m.Files {
			if f.Size == 0 || len(f.Patches) == 0 {
				t.Errorf("%s: %+v", file, f)
			}
		}
	}
}

func TestRealPatchIndexes(t *testing.T) {
	for file, want := range map[string]struct {
		entries int
		ckey    string
	}{
		"wow_classic_era_patch_index.bin": {112, "4c0fcc3e0db1881e58bb6b3e2b14078d"},
		"wow_classic_patch_index.bin":     {141, "fa24d500121e588b11dfbc34070e9825"},
		"wow_retail_patch_index.bin":      {242, "c7d04f9b11cd0178a34ad4a457170d93"},
	} {
		m, err := manifests.ParsePatchIndex(casctest.Fixture(t, "cascette-rs/patch_index/"+file))
		if err != nil || m.Len() != want.entries {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for e := range m.Entries() {
			if e.EKey.IsZero() || e.From.IsZero() || e.To.IsZero() || e.FromSize == 0 || e.ToSize == 0 {
				t.Errorf("%s: %+v", file, e)
			}
		}
	}
}
