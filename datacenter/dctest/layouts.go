package dctest

import (
	"lorefs/datacenter"
	"lorefs/internal/testneeds"
)

// Layouts are all layouts.
var Layouts = []datacenter.Layout{datacenter.LayoutV3, datacenter.LayoutV6X86, datacenter.LayoutV6X64}

// SomeLayouts returns all layouts, or only one in short mode.
func SomeLayouts() []datacenter.Layout {
	if testneeds.Quick() {
		return Layouts[len(Layouts)-1:]
	}
	return Layouts
}

// SmallDoc returns a document with all that a data center can have, of a few dozen nodes.
func SmallDoc(layout datacenter.Layout) Doc {
	return Generate(GenOptions{Layout: layout, Seed: 11, Sheets: 3, Nodes: 60})
}
