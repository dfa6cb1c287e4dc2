package dctree_test

import (
	"os"
	"testing"

	"lorefs/internal/testneeds"
	"lorefs/nodes/dctree"
	"lorefs/nodes/nodetest"
)

func TestFixtureConformance(t *testing.T) {
	for _, file := range []string{"p115_small_x64.dat", "p115_small_x86.dat"} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/"+file))
			if err != nil {
				t.Fatal(err)
			}
			nodetest.Run(t, treeOf(t, data, dctree.Options{}))
		})
	}
}
