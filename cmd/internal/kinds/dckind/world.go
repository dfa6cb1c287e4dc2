package dckind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"slices"
	"syscall"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/worldkind"
	"lorefs/geometry"
	"lorefs/internal/jsonout"
	"lorefs/nodes"
	"lorefs/nodes/worldtree"
)

// WorldDir is the directory of the mount of a data center that shows the folder of world
// geometry.
const WorldDir = "world"

// worldOption is the name of the option for that folder.
const worldOption = "world"

// worldkind.openWorld opens the zones and areas of the folder that the data center names.
func (d *DataCenter) openWorld(ctx context.Context, o kinds.Opening) (*worldkind.World, error) {
	list, err := readWorldList(d.dc)
	if err != nil {
		return nil, err
	}
	w, err := worldkind.NewWorld(ctx, o.DataCenter.World, o, worldtree.Options{
		Folder: d.dc.Identity(),
		Zones:  func(at geometry.ZonePosition) bool { _, named := list.zones[at]; return named },
		Areas:  func(name string) bool { return list.areas[name] != "" },
		Origin: func(at geometry.ZonePosition) geometry.ZonePosition { return list.zones[at] },
		Missing: func(files []worldtree.File) string {
			return list.missing(files).text()
		},
		Named: list.outlined(),
	})
	if err != nil {
		return nil, &kinds.Error{Option: worldOption, Err: err}
	}
	return w, nil
}

// editWorld makes the folder of world geometry editable. The session is nil if there is no
// folder, or if it can only be read.
func (d *DataCenter) editWorld(ctx context.Context, o kinds.EditOptions) (*kinds.TreeSession[worldtree.Edit], error) {
	if d.world == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	e, err := d.world.Session(ctx, WorldDir+"/", o)
	switch {
	case errors.Is(err, iofs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, kinds.ErrNotLocal):
		o.Logger.Warn("the files of "+WorldDir+" can't be edited", "folder", d.world.Dir, "err", err)
		return nil, nil //nolint:nilnil // there is none
	case errors.Is(err, nodes.ErrNotExist):
		return nil, &kinds.Error{Option: worldOption, Err: &kinds.UnnamedEditsError{Folder: d.world.Dir, Err: err}}
	case err != nil:
		return nil, &kinds.Error{Option: worldOption, Err: err}
	}
	return e, nil
}

// missing is the content of world/missing.json.
type missing struct {
	About []string `json:"about"`
	// Zones and Areas are named by the data center, but have no files.
	Zones []string `json:"zones"`
	Areas []string `json:"areas"`
	// Ambiguous are zones that belong to several continents with different origins.
	Ambiguous []ambiguous `json:"ambiguous"`
}

type ambiguous struct {
	Zone    string   `json:"zone"`
	Origin  string   `json:"origin"`
	Besides []string `json:"besides"`
}

var aboutMissing = []string{
	"zones and areas are named in the data center's AreaList, but the folder of --world has no file for them.",
	"ambiguous are zones of several continents with different origins: positions in the world are those of the first, origin.",
}

// missing compares the names in the list with the files in the folder.
func (l *worldList) missing(files []worldtree.File) missing {
	zones, areas := maps.Clone(l.zones), maps.Clone(l.areas)
	for _, f := range files {
		if f.Area {
			delete(areas, f.Name)
		} else {
			delete(zones, f.Zone)
		}
	}
	m := missing{About: aboutMissing, Zones: []string{}, Areas: []string{}, Ambiguous: []ambiguous{}}
	for at := range zones {
		m.Zones = append(m.Zones, at.String())
	}
	slices.Sort(m.Zones)
	m.Areas = append(m.Areas, slices.Sorted(maps.Values(areas))...)
	for at, others := range l.others {
		a := ambiguous{Zone: at.String(), Origin: l.zones[at].String()}
		for _, o := range others {
			a.Besides = append(a.Besides, o.String())
		}
		m.Ambiguous = append(m.Ambiguous, a)
	}
	slices.SortFunc(m.Ambiguous, func(a, b ambiguous) int { return cmp.Compare(a.Zone, b.Zone) })
	return m
}

func (m missing) text() string {
	text, err := jsonout.Text(m)
	if err != nil {
		panic(fmt.Sprintf("BUG: strings can't be written as JSON: %v", err))
	}
	return text
}
