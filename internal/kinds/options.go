package kinds

import (
	"log/slog"

	"lorefs/casc"
	"lorefs/datacenter"
	"lorefs/nodes/blockcache"
	"lorefs/protocol"
)

// Options are what a source is opened with. Each kind takes what is its own.
type Options struct {
	// CacheSize is how many bytes of decoded blocks are kept.
	CacheSize int64
	// NoIndex keeps no index for a quick start the next time, and uses none. CacheBase is
	// the folder for indexes; the default is the user's cache folder.
	NoIndex   bool
	CacheBase string

	DataCenter DataCenterOptions
	CASC       CASCOptions
	Packets    PacketOptions

	// Progress, if it is not nil, is told how far the first pass over the source is.
	Progress func(done, total int64)
	Logger   *slog.Logger
}

// DataCenterOptions are for data centers.
type DataCenterOptions struct {
	// Keys are tried one after the other.
	Keys   []datacenter.Key
	Layout datacenter.Layout
	// World is a folder of world geometry to show with the data center; empty for none.
	World string
}

// CASCOptions are for CASC storages.
type CASCOptions struct {
	// Storage is passed on to the storage; this package fills in what users don't choose.
	Storage casc.Options
	// ListFiles are paths of files that list names.
	ListFiles []string
	// ShowMissing shows files whose content is not in the storage.
	ShowMissing bool
}

// PacketOptions are for recorded sessions and packet definitions.
type PacketOptions struct {
	// Definitions is the folder of definitions for a recorded session; empty for none.
	Definitions string
	// Patch is the version of the game, Revision that of its client. By default they are
	// what the session says.
	Patch    protocol.Patch
	Revision string
	// Platform is the platform whose definitions are preferred.
	Platform string
	// Inline means that fields are where definitions list them, without pointers.
	Inline bool
}

// opening is what a kind needs to open a source.
type opening struct {
	*Options
	// blocks is the cache of decoded blocks.
	blocks *blockcache.Cache
}

func newOpening(o *Options) opening {
	filled := *o
	if filled.Progress == nil {
		filled.Progress = func(int64, int64) {}
	}
	if filled.Logger == nil {
		filled.Logger = slog.New(slog.DiscardHandler)
	}
	return opening{&filled, blockcache.New(o.CacheSize)}
}
