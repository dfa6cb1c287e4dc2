package casctree_test

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lorefs/casc"
	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/nodes/casctree"
)

// TestMountedSynthetic reads every file of the storages of the fixtures through a
// mount.
func TestMountedSynthetic(t *testing.T) {
	for _, kind := range someSynthetics() {
		s := loadSynthetic(t, kind)
		dir := fusetest.Mount(t, s.tree(t, casc.Options{}, casctree.Options{Missing: true}), fs.Options{})
		for _, f := range s.manifest.Files {
			name := f.Name
			if f.Listed != "" {
				name = f.Listed
			}
			name = s.mountPath(name)
			want := error(nil)
			switch {
			case strings.Contains(name, "absent/"):
				want = syscall.ENODATA
			case strings.Contains(name, "missing_key"):
				want = syscall.ENOKEY
			}
			data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if want != nil && !errors.Is(err, want) {
				t.Errorf("%s: %s: %v, want %v", kind, name, err, want)
			}
			if sum := md5.Sum(data); want == nil && (err != nil || hex.EncodeToString(sum[:]) != f.MD5) {
				t.Errorf("%s: %s: %v, MD5 %x, want %s", kind, name, err, sum, f.MD5)
			}
		}
	}
}
