package pack

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"lorefs/datacenter/internal/spell"
)

// numbered is the path of a sheet: NUMBER stands between front and ".xml". A path without a number
// is all front.
type numbered struct {
	front  string
	number uint64
}

func parseNumbered(name string) (n numbered, ok bool) {
	stem, isXML := strings.CutSuffix(name, ".xml")
	front := strings.TrimRight(stem, "0123456789")
	number, err := strconv.ParseUint(stem[len(front):], 10, 64)
	if !isXML || err != nil || !strings.HasSuffix(front, "-") {
		return numbered{front: name}, false
	}
	return numbered{front, number}, true
}

// comparePaths is the order in which sheets are packed: that of their paths, but by number where
// numbers are not padded, as early versions of novadrop-dc wrote them.
func comparePaths(a, b string) int {
	x, _ := parseNumbered(a)
	y, _ := parseNumbered(b)
	return cmp.Or(spell.Compare(x.front, y.front), cmp.Compare(x.number, y.number), spell.Compare(a, b))
}

// strays returns a problem for each file that is probably a copy of another sheet: by its name,
// such as "Item-00000 (copy).xml", or by its folder, where all names are those of another folder.
// Nobody wants items twice, and a data center can't tell.
func (s *Folder) strays() (found []Problem) {
	first := make(map[string]string, len(s.files))
	for _, f := range s.files {
		base := path.Base(f.path)
		other, twice := first[base]
		switch _, ok := parseNumbered(base); {
		case !ok:
			found = append(found, Problem{File: f.path, What: "its name is not SHEET-NUMBER.xml: if it is a copy of another sheet, remove it"})
		case twice:
			found = append(found, Problem{File: f.path, What: "there is " + other + " as well: if one is a copy, remove it"})
		default:
			first[base] = f.path
		}
	}
	return found
}
