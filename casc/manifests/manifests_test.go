package manifests_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lorefs/casc/casctest/write"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
)

func TestInstallManifest(t *testing.T) {
	entries := []manifests.InstallEntry{{"a.exe", keys.Key{1}, 5}, {`Data\b`, keys.Key{2}, 1 << 31}, {"c", keys.Key{3}, 0}}
	tags := []write.Tag{{Name: "Windows", Type: manifests.TagPlatform, Entries: []int{0, 2}}, {Name: "enUS", Type: manifests.TagLocale}}
	for version := 1; version <= 2; version++ {
		m, err := manifests.ParseInstall(write.Install(version, entries, tags...))
		if err != nil || m.Version != version || !slices.Equal(m.Entries, entries) || len(m.Tags) != 2 {
			t.Fatalf("version %d: %+v, %v", version, m, err)
		}
		if got := slices.Collect(m.Tags[0].Entries()); !slices.Equal(got, []int{0, 2}) || m.Tags[0].Has(1) || m.Tags[0].Has(-1) || m.Tags[0].Has(3) {
			t.Errorf("version %d: tagged are %v", version, got)
		}
	}
}

func TestDownloadManifest(t *testing.T) {
	entries := []manifests.DownloadEntry{{EKey: keys.Key{1}, Size: 5, Priority: 0, Checksum: 7}, {EKey: keys.Key{2}, Size: 1 << 36, Priority: -1, Checksum: 8}}
	for version := 1; version <= 3; version++ {
		want := slices.Clone(entries)
		for i := range want {
			want[i].Flags = []byte{}
			if version >= 2 {
				want[i].Flags = []byte{byte(i), 9}
			}
		}
		m, err := manifests.ParseDownload(write.Download(version, want, write.Tag{Name: "x", Type: 5, Entries: []int{1}}))
		if err != nil || m.Version != version || len(m.Tags) != 1 || !m.Tags[0].Has(1) {
			t.Fatalf("version %d: %+v, %v", version, m, err)
		}
		if got := slices.Collect(m.Entries()); !reflect.DeepEqual(got, want) {
			t.Errorf("version %d: %+v", version, got)
		}
	}
}

func TestSizeManifest(t *testing.T) {
	entries := []manifests.SizeEntry{{[]byte("123456789"), 500}, {[]byte("abcdefghi"), 1 << 31}}
	for version := 1; version <= 2; version++ {
		data := write.SizeManifest(version, entries, write.Tag{Name: "x", Type: 3, Entries: []int{1}})
		m, err := manifests.ParseSize(data)
		if err != nil || m.KeySize != 9 || m.Total != 500+1<<31 || m.Len() != 2 || len(m.Tags) != 1 || m.Tags[0].Has(0) || !m.Tags[0].Has(1) {
			t.Fatalf("version %d: %+v, %v", version, m, err)
		}
		if got := slices.Collect(m.Entries()); !reflect.DeepEqual(got, entries) {
			t.Errorf("version %d: %+v", version, got)
		}
		if _, err := manifests.ParseSize(append(data, 0)); err == nil || !strings.Contains(err.Error(), "27 bytes are not 2 entries") {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

func TestPatchManifest(t *testing.T) {
	var files []manifests.PatchFile
	for i := range 5 {
		f := manifests.PatchFile{CKey: keys.Key{byte(i + 1)}, Size: 1 << 33}
		for j := range i%3 + 1 {
			f.Patches = append(f.Patches, manifests.PatchStep{From: keys.Key{9, byte(j)}, FromSize: 8, EKey: keys.Key{7}, Size: 6, Index: uint8(j)})
		}
		files = append(files, f)
	}
	data, key := write.Patch(files)
	m, err := manifests.ParsePatch(data)
	if err != nil || m.Key != key || !reflect.DeepEqual(m.Files, files) {
		t.Fatalf("%+v, %v", m, err)
	}
	for i := 46; i < len(data); i++ {
		bad := bytes.Clone(data)
		bad[i] ^= 4
		if m, err := manifests.ParsePatch(bad); err == nil && m.Key == key {
			t.Fatalf("byte %d flipped: no error", i)
		}
	}
}

// TestPatchBlocksOverlap has two blocks at one place. If that were allowed a file could
// have any number of blocks, each with the same files.
func TestPatchBlocksOverlap(t *testing.T) {
	var files []manifests.PatchFile
	for i := range 3 {
		files = append(files, manifests.PatchFile{CKey: keys.Key{byte(i)}, Patches: make([]manifests.PatchStep, 1)})
	}
	data, _ := write.Patch(files)
	const table, entry = 10, 36
	copy(data[table+entry:table+2*entry], data[table:table+entry])
	want := "casc: patch manifest: offset 0x4e: block 1 begins at 0x52, what is before it ends at "
	if m, err := manifests.ParsePatch(data); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%+v, %v, want %s", m, err, want)
	}
}
