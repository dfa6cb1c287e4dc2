package manifests_test

import (
	"testing"

	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/internal/root/overwatch"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
)

func FuzzManifests(f *testing.F) {
	patch, _ := write.Patch([]manifests.PatchFile{{CKey: keys.Key{1}, Patches: make([]manifests.PatchStep, 2)}})
	tag := write.Tag{Name: "x", Type: 1, Entries: []int{0}}
	for _, data := range [][]byte{
		write.Install(2, []manifests.InstallEntry{{Name: "a", CKey: keys.Key{1}, Size: 1}}, tag),
		write.Download(3, []manifests.DownloadEntry{{Flags: []byte{1, 2}}}, tag),
		write.SizeManifest(1, []manifests.SizeEntry{{EKey: make([]byte, 9), Size: 1}}, tag),
		patch, write.Shmem("x", 1), write.ContentManifest(70000, []overwatch.Asset{{GUID: 1}}),
	} {
		f.Add(data)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		if m, err := manifests.ParseInstall(data); err == nil {
			for i := range m.Tags {
				for n := range m.Tags[i].Entries() {
					_ = m.Entries[n]
				}
			}
		}
		if m, err := manifests.ParseDownload(data); err == nil {
			for range m.Entries() {
			}
		}
		if m, err := overwatch.ParseContentManifest(data); err == nil {
			for range m.Assets() {
			}
		}
		if m, err := manifests.ParsePatchIndex(data); err == nil {
			for range m.Entries() {
			}
		}
		if m, err := manifests.ParseSize(data); err == nil {
			for range m.Entries() {
			}
		}
		_, _ = manifests.ParsePatch(data)
		_, _ = index.ParseShmem(data)
	})
}
