package worldtree

import (
	"log/slog"
	"time"

	"lorefs/geometry"
	"lorefs/internal/cache"
	"lorefs/nodes/blockcache"
)

// Options are what New may be told.
type Options struct {
	// ModTime is that of the directories. Default: the folder's.
	ModTime time.Time
	// Blocks keeps decoded files; a zone takes about 6 MB, a large area 20. Of a
	// cache that has no room for one, what was read last is kept all the same, and
	// all else is made anew. Default: one of 64 MiB.
	Blocks cache.Blocks
	// Origin tells in which zone the origin of a zone's world is, for world
	// coordinates. Default: [geometry.DefaultOrigin] for all.
	Origin func(zone geometry.ZonePosition) geometry.ZonePosition
	// Zones and Areas tell which of the folder's zones and areas to show; the
	// name of an area is in lower case. Default: all.
	Zones func(zone geometry.ZonePosition) bool
	Areas func(name string) bool
	// Memory keeps what was found out for the next time, under Folder: a name for
	// the folder and what is chosen of it. Default: nothing is kept.
	Memory cache.Store
	Folder string
	// Missing makes the content of the file missing.json in the root, given the
	// files that the tree shows. Default: there is no such file.
	Missing func(files []File) string
	// Logger is told of files that are left out or cannot be decoded. Default:
	// nobody is.
	Logger *slog.Logger
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
