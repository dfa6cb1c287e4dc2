// Package dckind is the kind of source of a TERA data center. Begin with datacenter.go, which opens one
// and shows its trees, then edit.go, which makes it editable.
//
//   - describe.go, query.go, files.go: what info, queries and export --format json print
//   - edits.go, paths.go: edits as users know them; revert.go takes them back
//   - patch.go: patches
//   - pack.go, part.go: sheets that are packed, and folders that are a part
//   - world.go, worldlist.go: the folder of world geometry that it names
package dckind
