package casc_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
)

// twoForms makes a game in which the file two.txt, the root and the install manifest have
// two encoded forms each. damage says which of the forms are damaged.
func twoForms(t *testing.T, damage [2]bool) (g *casctest.Game, content []byte, keys []keys.Key) {
	t.Helper()
	g = casctest.New()
	put := func(content []byte) write.Stored {
		first := g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: content})
		g.Add(content)
		for i, bad := range damage {
			s := &g.Stored[len(g.Stored)-2+i]
			if bad {
				s.Encoded = bytes.Clone(s.Encoded)
				s.Encoded[len(s.Encoded)-1] ^= 1
				keys = append(keys, s.EKey)
			}
		}
		return first
	}
	content = bltetest.Text(5000)
	two, one := put(content), g.Add([]byte("one"))
	g.Root(put(write.TextRoot([]root.File{{Name: "one.txt", CKey: one.CKey}, {Name: "two.txt", CKey: two.CKey}})))
	g.Ref("install", put(write.Install(1, []manifests.InstallEntry{{Name: "a.exe", CKey: one.CKey, Size: 3}})))
	return g, content, keys
}

// TestTwoForms damages one or both encoded forms of a file and of manifests. A content with
// one whole form can be read, and Verify reports the form and not the file.
func TestTwoForms(t *testing.T) {
	for _, damage := range [][2]bool{{}, {true, false}, {false, true}, {true, true}} {
		g, content, keys := twoForms(t, damage)
		readable := !damage[0] || !damage[1]
		st := openBuilt(t, g)
		list, err := st.Files(t.Context())
		if readable != (err == nil && len(list) == 2) {
			t.Errorf("%v: %+v, %v", damage, list, err)
		}
		if m, err := st.Install(t.Context()); readable != (err == nil) || readable && len(m.Entries) != 1 {
			t.Errorf("%v: install manifest: %v", damage, err)
		}
		c, err := st.OpenContent(t.Context(), write.Key(content))
		var got []byte
		if err == nil {
			got, err = c.ReadAll(t.Context(), 1<<20)
		}
		if readable != (err == nil && bytes.Equal(got, content)) {
			t.Errorf("%v: %d bytes, %v", damage, len(got), err)
		}
		var places, files []string
		for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if f.File != "" {
				files = append(files, f.File)
			} else if f.Archive != "" {
				places = append(places, f.String())
			}
		}
		for _, key := range keys {
			short := key.Short()
			if !slices.ContainsFunc(places, func(s string) bool {
				return strings.HasPrefix(s, "damaged: data.") && strings.Contains(s, fmt.Sprintf("encoding key %x", short[:]))
			}) {
				t.Errorf("%v: verify tells of %q, want one of %x", damage, places, short)
			}
		}
		if len(places) != len(keys) || len(files) != 0 {
			t.Errorf("%v: verify tells of files %q and of %d forms, want %d", damage, files, len(places), len(keys))
		}
	}
}

// TestFormsPassedOver checks that a form which is not local or lacks its key is skipped if
// another can be read, and that the error says why if none can.
func TestFormsPassedOver(t *testing.T) {
	content := bltetest.Text(3000)
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	encrypted := func(g *casctest.Game) {
		g.AddChunks("b:{*=e:{1122334455667788,01020304,n}}", blte.WriteOptions{}, blte.Chunk{Content: content, Encrypt: secret, Key: bltetest.Key()})
	}
	absent := func(g *casctest.Game) { g.AddAbsent(content) }
	whole := func(g *casctest.Game) { g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: content}) }
	damaged := func(g *casctest.Game) {
		g.AddChunks("b:{100=n,*=n}", blte.WriteOptions{}, blte.Chunk{Content: content[:100]}, blte.Chunk{Content: content[100:]})
		s := &g.Stored[len(g.Stored)-1]
		s.Encoded[len(s.Encoded)-1] ^= 1
	}
	for name, c := range map[string]struct {
		forms []func(*casctest.Game)
		want  string // in the error
		kind  casc.FindingKind
		state casc.State
	}{
		"encrypted, whole": {[]func(*casctest.Game){encrypted, whole}, "", 0, casc.StateLocal},
		"absent, whole":    {[]func(*casctest.Game){absent, whole}, "", 0, casc.StateLocal},
		"damaged, absent":  {[]func(*casctest.Game){damaged, absent}, "the MD5 is", casc.FindingDamaged, casc.StateLocal},
		"absent":           {[]func(*casctest.Game){absent}, casc.ErrNotLocal.Error(), casc.FindingMissing, casc.StateNotLocal},
		"encrypted":        {[]func(*casctest.Game){encrypted, absent}, "encrypted with key", casc.FindingNoKey, casc.StateNoKey},
	} {
		g := casctest.New()
		for _, add := range c.forms {
			add(g)
		}
		g.Root(g.Add(write.TextRoot([]root.File{{Name: "a", CKey: write.Key(content)}})))
		st := openBuilt(t, g)
		if info, err := st.StatContent(t.Context(), write.Key(content), -1); err != nil || info.State != c.state || info.Size != int64(len(content)) {
			t.Errorf("%s: %+v, %v, want %v", name, info, err, c.state)
		}
		f, err := st.OpenName(t.Context(), "a")
		var got []byte
		if err == nil {
			got, err = f.ReadAll(t.Context(), 1<<20)
		}
		switch {
		case c.want == "":
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		case err == nil, !strings.Contains(err.Error(), c.want), errors.Is(err, casc.ErrNotLocal) != (c.kind == casc.FindingMissing):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		var told []casc.Finding
		for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if f.File != "" {
				told = append(told, f)
			}
		}
		if (c.want == "") != (len(told) == 0) || c.want != "" && told[0].Kind != c.kind {
			t.Errorf("%s: verify tells of %v", name, told)
		}
	}
}
