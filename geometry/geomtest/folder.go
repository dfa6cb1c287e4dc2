package geomtest

import (
	"strings"
	"testing/fstest"
	"time"

	"lorefs/geometry"
)

// FolderTime is the modification time of a Folder's first zone; those of later zones have
// later times.
var FolderTime = time.Unix(1_600_000_000, 0)

// Folder returns a folder with that many zones, each north of the one before, and an area
// for every two of them. Like real folders it has other files too, and names in capital
// letters.
func Folder(zones int) fstest.MapFS {
	dir := fstest.MapFS{
		".":         {Mode: 0o755 | 1<<31, ModTime: FolderTime},
		"README.md": {Data: []byte("world"), ModTime: FolderTime},
	}
	var at []geometry.ZonePosition
	for i := range zones {
		at = append(at, geometry.ZonePosition{X: 1000, Y: uint32(1000 + i)})
		name := at[i].String() + ".zgd"
		if i%3 == 2 {
			name = strings.ToUpper(name)
		}
		dir[name] = &fstest.MapFile{Data: ZoneFile(Hills(i)), ModTime: FolderTime.Add(time.Duration(i) * time.Hour)}
	}
	for i := 0; i+1 < zones; i += 2 {
		name := "area_" + string(rune('a'+i/2%26)) + strings.Repeat("_p", 1+i/52)
		a := Paths(geometry.DefaultOrigin, at[i], at[i+1])
		dir[name+".apd"] = &fstest.MapFile{Data: a.File(), ModTime: FolderTime.Add(-time.Minute)}
	}
	return dir
}
