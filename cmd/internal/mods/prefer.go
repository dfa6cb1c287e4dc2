package mods

import (
	"path/filepath"
	"slices"
	"strings"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/nearest"
	"lorefs/datacenter/patch"
	"lorefs/internal/shown"
)

// The words of --prefer that are not names of patches.
const (
	preferFirst = "first"
	preferLast  = "last"
)

// PreferUsage is the help of --prefer.
const PreferUsage = "where the patches want different values, take that of the `first|last|PATCH`; may be given again"

// Prefer returns what --prefer says, of patches in the order in which they are applied.
func Prefer(words []string, patches []*patch.Patch) (order []int, err error) {
	for _, word := range words {
		switch word {
		case preferFirst:
			order = append(order, patch.First)
		case preferLast:
			order = append(order, patch.Last)
		default:
			i, err := find(word, patches)
			if err != nil {
				return nil, err
			}
			order = append(order, i)
		}
	}
	return order, nil
}

// find returns the number of the patch that a word names: by its path, or by the last part of that, with or
// without its extension.
func find(word string, patches []*patch.Patch) (int, error) {
	if i := slices.IndexFunc(patches, func(p *patch.Patch) bool { return p.Name == word }); i >= 0 {
		return i, nil
	}
	found := -1
	var names []string
	for i, p := range patches {
		base := filepath.Base(p.Name)
		names = append(names, short(p.Name))
		if word != base && word != short(p.Name) {
			continue
		}
		if found >= 0 && patches[found].Name == p.Name {
			continue
		}
		if found >= 0 {
			return 0, cli.UsageErrorf("the patches %s and %s are both called %s: want a path", patches[found].Name, p.Name, shown.Quote(word))
		}
		found = i
	}
	if found < 0 {
		near := nearest.Name(word, append(names, preferFirst, preferLast))
		if near != "" {
			near = ": did you mean " + near + "?"
		}
		return 0, cli.UsageErrorf("%s is none of the patches%s", shown.Quote(word), near)
	}
	return found, nil
}

// short is the name of a patch without its folder and extension, but with its number.
func short(name string) string {
	base, number, numbered := strings.Cut(filepath.Base(name), "#")
	base = strings.TrimSuffix(base, filepath.Ext(base))
	if numbered {
		base += "#" + number
	}
	return base
}

// Names are the names of patches for reports: short ones, unless two have the same.
func Names(patches []*patch.Patch) []string {
	names, whole := make([]string, len(patches)), make([]string, len(patches))
	seen := map[string]bool{}
	for i, p := range patches {
		names[i], whole[i] = short(p.Name), p.Name
		seen[names[i]] = true
	}
	if len(seen) < len(patches) {
		return whole
	}
	return names
}
