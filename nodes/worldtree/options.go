package worldtree

import (
	"log/slog"
	"time"

	"lorefs/geometry"
	"lorefs/internal/cache"
	"lorefs/nodes/blockcache"
)

// Options are the options of New.
type Options struct {
	// ModTime is the time of the directories. Default: the folder's.
	ModTime time.Time
	// Blocks keeps decoded files; a zone takes about 6 MB, a large area 20. If the cache
	// has no room for one, the last one is kept all the same, and everything else is made
	// anew. Default: a cache of 64 MiB.
	Blocks cache.Blocks
	// Origin returns the zone with the origin of a zone's world, for world coordinates.
	// Default: [geometry.DefaultOrigin] for all.
	Origin func(zone geometry.ZonePosition) geometry.ZonePosition
	// Zones and Areas select the zones and areas of the folder to show. The name of an area
	// is in lower case. Default: all.
	Zones func(zone geometry.ZonePosition) bool
	Areas func(name string) bool
	// Memory keeps what was found out for the next run, under Folder: a name for the folder
	// and the selection. Default: nothing is kept.
	Memory cache.Store
	Folder string
	// Missing makes the content of missing.json in the root from the shown files. Default:
	// there is no such file.
	Missing func(files []File) string
	// Fetched says that the files of the folder have to be fetched from a server. Then none is
	// decoded ahead of a program before that has asked for two in their order.
	Fetched bool
	// Named are areas that world.svg outlines even if the folder has no file of them. Default:
	// none.
	Named []NamedArea
	// Logger gets messages about files that are left out or can't be decoded. Default:
	// none.
	Logger *slog.Logger
}

// NamedArea is an area that is known without its file.
type NamedArea struct {
	// Name is in lower case.
	Name  string
	Zones []geometry.ZonePosition
}

const defaultBudget = 64 << 20

func (o *Options) setDefaults() {
	if o.Blocks == nil {
		o.Blocks = blockcache.New(defaultBudget).View()
	}
	if o.Origin == nil {
		o.Origin = func(geometry.ZonePosition) geometry.ZonePosition { return geometry.DefaultOrigin }
	}
	if o.Zones == nil {
		o.Zones = func(geometry.ZonePosition) bool { return true }
	}
	if o.Areas == nil {
		o.Areas = func(string) bool { return true }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}
