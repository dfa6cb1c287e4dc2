package kinds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/geometry"
)

// worldList is what a data center's AreaList says of the world.
type worldList struct {
	// zones are those that are named, each with the origin of its continent: the
	// zone in which the origin of the world's coordinates is.
	zones map[geometry.ZonePosition]geometry.ZonePosition
	// others are the further origins of zones that several continents have, which
	// are shown for the first only.
	others map[geometry.ZonePosition][]geometry.ZonePosition
	// areas has the names of areas as they are spelled, by their lower case.
	areas map[string]string
}

// maxWorldList bounds what is read of a file that claims anything. Real lists have
// some 3,000 nodes and attributes.
const maxWorldList = 1 << 20

// readWorldList reads the sheets AreaList of a data center: zones in areas in
// continents, which are told by the names of their nodes, however they nest.
func readWorldList(dc *datacenter.File) (*worldList, error) {
	l := &worldList{
		zones:  map[geometry.ZonePosition]geometry.ZonePosition{},
		others: map[geometry.ZonePosition][]geometry.ZonePosition{},
		areas:  map[string]string{},
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
		if err := l.add(sheet, geometry.DefaultOrigin); err != nil {
			return nil, fmt.Errorf("AreaList: %w", err)
		}
	}
	return l, nil
}

// add takes in a node and what is below it. Nodes nest no deeper than the data
// center allows.
func (l *worldList) add(n datacenter.Node, origin geometry.ZonePosition) error {
	var err error
	switch n.Name() {
	case "Continent":
		origin, err = positionOf(n, "originZoneX", "originZoneY", &geometry.DefaultOrigin)
	case "Area":
		var name string
		if name, _, err = textOf(n, "name"); name != "" {
			l.areas[strings.ToLower(name)] = name
		}
	case "Zone":
		var at geometry.ZonePosition
		if at, err = positionOf(n, "x", "y", nil); err == nil {
			l.addZone(at, origin)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", n.Name(), err)
	}
	for child, err := range n.Children() {
		if err != nil {
			return err
		}
		if err := l.add(child, origin); err != nil {
			return err
		}
	}
	return nil
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

// textOf is an attribute of a node as text.
func textOf(n datacenter.Node, name string) (text string, ok bool, err error) {
	for a, err := range n.Attributes() {
		if err != nil {
			return "", false, err
		}
		if a.Name() == name {
			b, err := a.AppendText(nil)
			return string(b), true, err
		}
	}
	return "", false, nil
}

// positionOf reads two attributes. missing is what is meant if both are left out;
// without it they have to be there.
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
