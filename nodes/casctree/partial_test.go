package casctree_test

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
	"lorefs/casc/root"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/casctree"
	"lorefs/nodes/nodetest"
)

// partialGame has a file of 3 encrypted chunks between 4 plain ones, and a file without any.
func partialGame(t *testing.T) (files write.Files, content, filled []byte) {
	t.Helper()
	g := casctest.New()
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	var chunks []blte.Chunk
	for i := range 7 {
		c := blte.Chunk{Content: bltetest.Noise(1000+i, uint64(i))}
		content = append(content, c.Content...)
		if i%2 == 1 {
			c.Encrypt, c.Key = secret, bltetest.Key()
			filled = append(filled, make([]byte, len(c.Content))...)
		} else {
			filled = append(filled, c.Content...)
		}
		chunks = append(chunks, c)
	}
	s := g.AddChunks("unknown", blte.WriteOptions{}, chunks...)
	plain := g.Add([]byte("plain"))
	far := g.AddAbsent([]byte("far"))
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "secret.db2", CKey: s.CKey}, {Name: "plain.txt", CKey: plain.CKey}, {Name: "far.txt", CKey: far.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	return files, content, filled
}

// TestPartial reads a file that lacks keys, with zeros, and asks where they are.
func TestPartial(t *testing.T) {
	files, content, filled := partialGame(t)
	fsys := casctest.FS(files)
	blocks := blockcache.New(1 << 20)
	keys := bltetest.Keys()
	keys[bltetest.SecretName] = bltetest.Key()
	for what, c := range map[string]struct {
		opts    casc.Options
		want    []byte
		partial string
	}{
		"strict":        {casc.Options{}, nil, ""},
		"filled":        {casc.Options{FillMissingKeys: true}, filled, "1000 1001 8877665544332211\n3003 1003 8877665544332211\n5010 1005 8877665544332211\n"},
		"with the keys": {casc.Options{FillMissingKeys: true, Keys: keys}, content, ""},
	} {
		c.opts.Blocks = blocks.View()
		tree := open(t, fsys, c.opts, casctree.Options{Missing: true})
		_, xattrs := nodes.Xattrs(tree)
		if xattrs != c.opts.FillMissingKeys {
			t.Errorf("%s: extended attributes: %v", what, xattrs)
		}
		key := fmt.Sprint(write.Key(content))
		for _, name := range []string{"files/secret.db2", "content/" + key[:2] + "/" + key} {
			e, err := lookup(t.Context(), tree, name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readAll(t.Context(), tree, e)
			if c.want == nil && !errors.Is(err, nodes.ErrNoKey) || c.want != nil && (err != nil || !bytes.Equal(got, c.want)) {
				t.Errorf("%s: %s: %d bytes, %v", what, name, len(got), err)
			}
			value, err := tree.Xattr(t.Context(), e.ID, casctree.XattrPartial)
			if string(value) != c.partial || c.partial == "" && !errors.Is(err, nodes.ErrNoXattr) {
				t.Errorf("%s: %s: attribute %q, %v", what, name, value, err)
			}
			if names, err := tree.Xattrs(t.Context(), e.ID); err != nil || (len(names) == 1) != (c.partial != "") {
				t.Errorf("%s: %s: attributes %q, %v", what, name, names, err)
			}
		}
		for _, name := range []string{"files/plain.txt", "files/far.txt", "files", "casc.json", "content"} {
			e, err := lookup(t.Context(), tree, name)
			if err != nil {
				t.Fatal(err)
			}
			if names, err := tree.Xattrs(t.Context(), e.ID); err != nil || len(names) > 0 {
				t.Errorf("%s: %s: attributes %q, %v", what, name, names, err)
			}
		}
		got := tree.Partial(t.Context())
		if want := []string{"content/" + key[:2] + "/" + key, "files/secret.db2"}; c.partial != "" && !slices.Equal(got, want) || c.partial == "" && len(got) > 0 {
			t.Errorf("%s: partial are %q", what, got)
		}
		// It still counts as lacking a key.
		if about, err := readPath(t.Context(), tree, "casc.json"); err != nil || what == "filled" && !strings.Contains(string(about), `"not_local":          1`) {
			t.Errorf("%s: %s, %v", what, about, err)
		}
	}
	nodetest.Run(t, open(t, fsys, casc.Options{FillMissingKeys: true}, casctree.Options{}))
}

// TestPartialManyRanges has more ranges than an extended attribute holds.
func TestPartialManyRanges(t *testing.T) {
	g := casctest.New()
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	var chunks []blte.Chunk
	for range 5000 {
		chunks = append(chunks, blte.Chunk{Content: []byte("a")}, blte.Chunk{Content: []byte("b"), Encrypt: secret, Key: bltetest.Key()})
	}
	s := g.AddChunks("unknown", blte.WriteOptions{}, chunks...)
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "many", CKey: s.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	tree := open(t, casctest.FS(files), casc.Options{FillMissingKeys: true}, casctree.Options{})
	e, err := lookup(t.Context(), tree, "files/many")
	if err != nil {
		t.Fatal(err)
	}
	value, err := tree.Xattr(t.Context(), e.ID, casctree.XattrPartial)
	if err != nil || len(value) > 1<<16 || !bytes.HasPrefix(value, []byte("1 1 8877665544332211\n3 1 ")) || !bytes.HasSuffix(value, []byte("\n...\n")) {
		t.Errorf("%d bytes, %v", len(value), err)
	}
	got, err := readAll(t.Context(), tree, e)
	if err != nil || !bytes.Equal(got, bytes.Repeat([]byte("a\x00"), 5000)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
