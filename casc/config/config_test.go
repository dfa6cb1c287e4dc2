package config_test

import (
	"slices"
	"testing"

	"lorefs/casc/casctest"
	"lorefs/casc/config"
	"lorefs/casc/keys"
)

// TestRealConfigs reads real configurations, whose names are their MD5.
func TestRealConfigs(t *testing.T) {
	for _, c := range []struct {
		file, sum, name, root, encoding string
		vfs                             int
	}{
		{"cascette-rs/config/wow_build_config.txt", "7b498dd7e196bf4161d631064f617189", "WOW-66066patch12.0.1_Retail", "", "c08607887449fb54788f21e7a7c27fc1", 867},
		{"cascette-rs/config/wow_classic_build_config.txt", "8c0bf563261db21d953517aba9564738", "WOW-65988patch5.5.3_ClassicRetail", "", "f4064cb1e02d9b01890090de60279897", 443},
		{"cascette-rs/config/wow_classic_era_build_config.txt", "903cc3552ca1075d5bdc264eab8e2480", "WOW-65989patch1.15.8_ClassicRetail", "9fe5e665742d1ac017e14ec5280521dc", "25c87b6ce82551dc8d62c2800aad6e8f", 239},
		{"cascette-py/596c212114208f0f849c6b6e596e6680.build", "596c212114208f0f849c6b6e596e6680", "WOW-32600patch1.13.2_Retail", "c612733163a88fae96bc82e9d546a76c", "34e57cbbcb58f4da834ae3db5b3fa9e7", 0},
	} {
		cfg, err := config.Read(casctest.Fixture(t, c.file), casctest.Key(t, c.sum))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		enc, err := cfg.Ref("encoding")
		if err != nil || enc.EKey.String() != c.encoding || enc.Size == 0 || enc.EncodedSize == 0 || cfg.Text("build-name") != c.name {
			t.Errorf("%s: encoding %+v, %v, name %q", c.file, enc, err, cfg.Text("build-name"))
		}
		if root, err := cfg.Ref("root"); err != nil || c.root != "" && root.CKey.String() != c.root || !root.EKey.IsZero() {
			t.Errorf("%s: root %+v, %v", c.file, root, err)
		}
		vfs := 0
		for ref, err := range cfg.VFS() {
			if err != nil || ref.EKey.IsZero() {
				t.Fatalf("%s: %+v, %v", c.file, ref, err)
			}
			vfs++
		}
		if vfs != c.vfs {
			t.Errorf("%s: %d nested manifests, want %d", c.file, vfs, c.vfs)
		}
	}
}

func TestConfig(t *testing.T) {
	text := "# Patch Configuration\n\npatch-entry = a b\r\npatch-entry = c\nroot = 0123456789abcdef0123456789abcdef\nroot-size = 12\nempty =\nbad = xyz\nbad-size = -1\n" +
		"three = 0123456789abcdef0123456789abcdef 0123456789abcdef0123456789abcdef 0123456789abcdef0123456789abcdef\n"
	cfg, err := config.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Words("patch-entry"); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("patch-entry %q", got)
	}
	if got := cfg.Lines("patch-entry"); len(got) != 2 || !slices.Equal(got[1], []string{"c"}) {
		t.Errorf("patch-entry %q", got)
	}
	if got := cfg.Names(); len(got) != 7 || got[0] != "patch-entry" {
		t.Errorf("names %q", got)
	}
	if r, err := cfg.Ref("root"); err != nil || r.Size != 12 || r.EncodedSize != 0 || r.CKey != casctest.Key(t, "0123456789abcdef0123456789abcdef") {
		t.Errorf("root %+v, %v", r, err)
	}
	if r, err := cfg.Ref("nothing"); err != nil || !r.CKey.IsZero() {
		t.Errorf("nothing: %+v, %v", r, err)
	}
	for _, name := range []string{"bad", "three"} {
		if _, err := cfg.Ref(name); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := config.Parse([]byte("ok = 1\nno equals sign\n")); err == nil || err.Error() != `casc: configuration: offset 0x7: "no equals sign" is no NAME = VALUE` {
		t.Errorf("%v", err)
	}
	if _, err := config.Read([]byte(text), keys.Key{}); err == nil {
		t.Error("no error for a wrong MD5")
	}
}
