//go:build linux

package fs_test

import (
	"strings"
	"testing"
	"time"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

var testTime = time.Unix(1_500_000_000, 123_456_789)

func testTree(t testing.TB) *nodes.Mem {
	t.Helper()
	var b nodes.Builder
	for i, dir := range []string{"ItemData", "ItemData.1", "äöü \xff"} {
		d := b.Dir(nodes.Root, dir)
		x := b.File(d, "x", "1002\n")
		b.SetXattr(x, "user.lorefs.type", []byte("int"))
		b.SetModTime(x, testTime.Add(time.Duration(i)*time.Hour))
		b.File(d, "empty", "")
		b.File(d, "large", strings.Repeat("0123456789abcde\n", 100_000))
		b.Dir(d, "hollow")
	}
	m, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMounted(t *testing.T) {
	tree := testTree(t)
	dir := fusetest.Mount(t, tree, fs.Options{})
	nodetest.RunMounted(t, dir, tree)
}
