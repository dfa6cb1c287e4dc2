//go:build linux

package fs_test

import (
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/nodes/nodetest"
)

// notPosix are the tests of go-fuse's suite that do not apply, and why.
var notPosix = map[string]string{
	"FileBasic":           "modes are the tree's and cannot be set",
	"Fallocate":           "no tree can reserve room",
	"FallocateKeepSize":   "no tree can reserve room",
	"Link":                "there are no hard links",
	"LinkUnlinkRename":    "there are no hard links",
	"SymlinkReadlink":     "there are no symbolic links",
	"FcntlFlockLocksFile": "locks are kept by the kernel, for which one process does not lock itself out",
	"SetattrSymlink":      "there are no symbolic links",
	"OpenSymlinkRace":     "there are no symbolic links",
}

func TestPosix(t *testing.T) {
	for name, check := range posixtest.All {
		if _, ok := notPosix[name]; ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir, s := fusetest.Serve(t, nodetest.NewMutable(nil), fs.Options{ReadWrite: true})
			check(t, dir)
			if st := s.Stats(); len(st.LastErrors) != 0 {
				t.Errorf("errors: %+v", st.LastErrors)
			}
		})
	}
	for name := range notPosix {
		if posixtest.All[name] == nil {
			t.Errorf("there is no test %s any more", name)
		}
	}
}
