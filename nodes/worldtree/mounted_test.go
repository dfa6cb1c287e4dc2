//go:build linux || darwin || freebsd

package worldtree_test

import (
	"testing"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/internal/testneeds"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/worldtree"
)

func TestMounted(t *testing.T) {
	testneeds.Seconds(t)
	tree := newTree(t, folder(2), worldtree.Options{Blocks: blockcache.New(256 << 20).View()})
	nodetest.RunMounted(t, fusetest.Mount(t, tree, fs.Options{}), tree, nodetest.Limit(60))
}
