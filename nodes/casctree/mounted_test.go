//go:build linux || darwin || freebsd

package casctree_test

import (
	"testing"

	"lorefs/casc/casctest"
	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/nodes/nodetest"
)

func TestMounted(t *testing.T) {
	_, files, sopts, opts := makeGame(t, "tvfs", "install")
	opts.Missing = true
	tree := open(t, casctest.FS(files), sopts, opts)
	nodetest.RunMounted(t, fusetest.Mount(t, tree, fs.Options{}), tree, nodetest.Limit(500))
}
