// Package resourcetree shows a resource container of TERA as a folder of the files that it holds.
// Package bundle does all of it but for the format, which is that of package resource.
package resourcetree

import (
	"io"
	"iter"

	"lorefs/nodes/bundle"
	"lorefs/nodes/resourcetree/resource"
)

// Format is the format of resource containers.
var Format = &bundle.Format{
	Name: "resources", Noun: "resource containers",
	Detect:    resource.Detect,
	Open:      func(r io.ReaderAt, size int64) (bundle.Files, error) { return resource.Open(r, size) },
	CheckName: resource.CheckName,
	Write:     write,
	Verify:    verify,
}

func write(w io.Writer, files iter.Seq[bundle.Input]) error {
	return resource.Write(w, func(yield func(resource.File) bool) {
		for in := range files {
			if !yield(resource.File(in)) {
				return
			}
		}
	})
}

func verify(r io.ReaderAt, size int64, strict bool) iter.Seq2[bundle.Finding, error] {
	return func(yield func(bundle.Finding, error) bool) {
		for problem, err := range resource.Verify(r, size, strict) {
			var f bundle.Finding
			if err == nil {
				f = bundle.Finding{Off: problem.Off, Where: problem.Where, What: problem.What}
			}
			if !yield(f, err) {
				return
			}
		}
	}
}
