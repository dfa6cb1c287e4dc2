package dckind

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/geometry"
	"lorefs/nodes/worldtree"
)

// worldList is the part of the world that the AreaList sheets of a data center name.
type worldList struct {
	// zones are the named zones, each with the origin of its continent: the zone that has
	// the origin of the world's coordinates.
	zones map[geometry.ZonePosition]geometry.ZonePosition
	// others has the other origins of zones that belong to several continents. Zones are
	// shown for the first one only.
	others map[geometry.ZonePosition][]geometry.ZonePosition
	// areas maps the names of areas in lower case to the names as they are written.
	areas map[string]string
	// inArea has the zones of areas, by names in lower case. A zone may be there twice.
	inArea map[string][]geometry.ZonePosition
}

// maxWorldList limits the number of nodes and attributes that are read, since a file may
// claim any number. Real lists have some 3,000.
const maxWorldList = 1 << 20

// readWorldList reads the AreaList sheets of a data center. They have zones in areas in
// continents, which are recognized by the names of their nodes at any depth.
func readWorldList(dc *datacenter.File) (*worldList, error) {
	l := &worldList{
		zones:  map[geometry.ZonePosition]geometry.ZonePosition{},
		others: map[geometry.ZonePosition][]geometry.ZonePosition{},
		areas:  map[string]string{},
		inArea: map[string][]geometry.ZonePosition{},
	}
	root, err := dc.Root()
	if err != nil {
		return nil, err
	}
	left := uint32(maxWorldList)
	for sheet, err := range root.Children() {
		if err != nil {
			return nil, err
		}
		if sheet.Name() != "AreaList" {
			continue
		}
		if sheet.Entries() > left {
			return nil, fmt.Errorf("AreaList: more than %d nodes and attributes", maxWorldList)
		}
		left -= sheet.Entries()
		if err := l.add(sheet, geometry.DefaultOrigin, ""); err != nil {
			return nil, fmt.Errorf("AreaList: %w", err)
		}
	}
	return l, nil
}

// add adds a node and all below it, which are in an area if it has a name. The data center limits
// how deep nodes nest.
func (l *worldList) add(n datacenter.Node, origin geometry.ZonePosition, area string) error {
	var err error
	switch n.Name() {
	case "Continent":
		origin, err = positionOf(n, "originZoneX", "originZoneY", &geometry.DefaultOrigin)
	case "Area":
		var name string
		if name, _, err = textOf(n, "name"); name != "" {
			area = strings.ToLower(name)
			l.areas[area] = name
		}
	case "Zone":
		var at geometry.ZonePosition
		if at, err = positionOf(n, "x", "y", nil); err == nil {
			l.addZone(at, origin)
			if area != "" {
				l.inArea[area] = append(l.inArea[area], at)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", n.Name(), err)
	}
	for child, err := range n.Children() {
		if err != nil {
			return err
		}
		if err := l.add(child, origin, area); err != nil {
			return err
		}
	}
	return nil
}

// outlined returns the areas that have zones, for World.svg.
func (l *worldList) outlined() (all []worldtree.NamedArea) {
	for _, name := range slices.Sorted(maps.Keys(l.inArea)) {
		all = append(all, worldtree.NamedArea{Name: name, Zones: l.inArea[name]})
	}
	return all
}

func (l *worldList) addZone(at, origin geometry.ZonePosition) {
	first, known := l.zones[at]
	switch {
	case !known:
		l.zones[at] = origin
	case first != origin && !slices.Contains(l.others[at], origin):
		l.others[at] = append(l.others[at], origin)
	}
}

// textOf returns an attribute of a node as text.
func textOf(n datacenter.Node, name string) (text string, ok bool, err error) {
	a, ok, err := n.Attr(name)
	if err != nil || !ok {
		return "", false, err
	}
	b, err := a.AppendText(nil)
	return string(b), true, err
}

// positionOf reads a position from two attributes. missing is the position if both are
// absent; if it is nil, they are required.
func positionOf(n datacenter.Node, x, y string, missing *geometry.ZonePosition) (geometry.ZonePosition, error) {
	textX, okX, err := textOf(n, x)
	if err != nil {
		return geometry.ZonePosition{}, err
	}
	textY, okY, err := textOf(n, y)
	if err != nil {
		return geometry.ZonePosition{}, err
	}
	if !okX && !okY && missing != nil {
		return *missing, nil
	}
	px, errX := strconv.ParseUint(textX, 10, 32)
	py, errY := strconv.ParseUint(textY, 10, 32)
	if errX != nil || errY != nil {
		return geometry.ZonePosition{}, fmt.Errorf("%s=%q and %s=%q: want the place of a zone", x, textX, y, textY)
	}
	return geometry.ZonePosition{X: uint32(px), Y: uint32(py)}, nil
}
