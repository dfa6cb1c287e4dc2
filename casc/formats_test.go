package casc_test

import (
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/internal/root/diablo3"
	"lorefs/casc/internal/root/mndx"
	"lorefs/casc/internal/root/overwatch"
	"lorefs/casc/internal/root/tvfs"
	"lorefs/casc/internal/root/wow"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
)

// TestCuts cuts manifests and roots at every byte, and expects an error wherever the cut is
// inside of something.
func TestCuts(t *testing.T) {
	files := newGame()
	files.Fill(t)
	patch, _ := write.Patch([]manifests.PatchFile{{CKey: keys.Key{1}, Patches: make([]manifests.PatchStep, 2)}})
	for name, c := range map[string]struct {
		data  []byte
		parse func([]byte) error
	}{
		"install":   {write.Install(1, []manifests.InstallEntry{{Name: "a", CKey: keys.Key{1}, Size: 1}}, write.Tag{Name: "x", Type: 1}), func(b []byte) error { return second(manifests.ParseInstall(b)) }},
		"download":  {write.Download(3, []manifests.DownloadEntry{{Flags: []byte{1, 2}}}, write.Tag{Name: "x", Type: 1}), func(b []byte) error { return second(manifests.ParseDownload(b)) }},
		"size":      {write.SizeManifest(1, []manifests.SizeEntry{{EKey: make([]byte, 9), Size: 1}}), func(b []byte) error { return second(manifests.ParseSize(b)) }},
		"patch":     {patch, func(b []byte) error { return second(manifests.ParsePatch(b)) }},
		"shmem":     {write.Shmem("x", 1)[:0x150], func(b []byte) error { return second(index.ParseShmem(b)) }},
		"WoW":       {write.WoWRoot(3, files.Files()[:1]), func(b []byte) error { return second(wow.Parse(b)) }},
		"overwatch": {[]byte("#MD5|FILENAME"), func(b []byte) error { return second(overwatch.Parse(b, nil)) }},
		"MNDX":      {write.MNDX(1, []write.MNDXFile{{Package: "p", Name: "n", CKey: keys.Key{1}, Size: 1}}), func(b []byte) error { return second(mndx.Parse(b)) }},
		"Diablo":    {write.Diablo3([]write.Diablo3Entry{{Name: "Base"}}), func(b []byte) error { return second(diablo3.Parse(b, nil)) }},
		"CMF":       {write.ContentManifest(70000, []overwatch.Asset{{GUID: 1, Size: 2, CKey: keys.Key{3}}}), func(b []byte) error { return second(overwatch.ParseContentManifest(b)) }},
		"TVFS":      {write.TVFS(files.Files()), readTVFS},
	} {
		if err := c.parse(c.data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range c.data {
			if (i == 12 || i == 24) && name == "WoW" {
				continue // a header without blocks
			}
			if err := c.parse(c.data[:i]); err == nil {
				t.Errorf("%s: cut at %d of %d: no error", name, i, len(c.data))
			}
		}
	}
}

func readTVFS(b []byte) error {
	r, err := tvfs.Parse(b, nil)
	if err != nil {
		return err
	}
	for _, err := range r.Files() {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestOverwatchAssets lists the assets of a content manifest.
func TestOverwatchAssets(t *testing.T) {
	g := newGame()
	s := g.Add([]byte("asset"))
	m := g.Add(write.ContentManifest(70000, []overwatch.Asset{{GUID: 0xAB, Size: 5, CKey: s.CKey}}))
	g.Root(g.Add(write.Overwatch([]root.File{{Name: "TactManifest/Win_SPWin_RCN.cmf", CKey: m.CKey}, {Name: "bad.cmf", CKey: s.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := st.OpenName(t.Context(), "ContentManifestFiles/Win_SPWin_RCN/00000000000000AB")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.ReadAll(t.Context(), 100); err != nil || string(b) != "asset" {
		t.Errorf("%q, %v", b, err)
	}
	if p := st.Problems(); len(p) != 1 || !strings.HasPrefix(p[0].Error(), "content manifest bad.cmf: casc: content manifest") {
		t.Errorf("%v", p)
	}
}
