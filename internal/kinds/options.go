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
	// CacheSize is the memory for what was decoded.
	CacheSize int64
	// NoIndex neither reads nor writes the index that makes the next start quick. CacheBase
	// is where it is kept instead of the user's cache folder.
	NoIndex   bool
	CacheBase string

	DataCenter DataCenterOptions
	CASC       CASCOptions
	Packets    PacketOptions

	// Progress is told how far the first pass over the source is. Default: nobody is.
	Progress func(done, total int64)
	Logger   *slog.Logger
}

// DataCenterOptions are those of data centers.
type DataCenterOptions struct {
	// Keys are tried one after the other.
	Keys   []datacenter.Key
	Layout datacenter.Layout
	// World is the folder of world geometry to show as well; empty for none.
	World string
}

// CASCOptions are those of CASC storages.
type CASCOptions struct {
	// Storage holds what users say of a storage; this package fills in the rest.
	Storage casc.Options
	// ListFiles are files of names.
	ListFiles []string
	// ShowMissing shows files that are not there.
	ShowMissing bool
}

// PacketOptions are those of recorded sessions and packet definitions.
type PacketOptions struct {
	// Definitions is the folder with those of a recorded session; empty for none.
	Definitions string
	// Patch and Revision are of the game and of its client. Default: what the session says.
	Patch    protocol.Patch
	Revision string
	// Platform is that of definitions which go before those for all.
	Platform string
	// Inline says that fields stand where definitions list them.
	Inline bool
}

// opening is what a kind is told to open a source.
type opening struct {
	*Options
	// blocks keeps what was decoded.
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
