package kinds

import (
	"log/slog"

	"lorefs/casc"
	"lorefs/casc/db2/dbd"
	"lorefs/datacenter"
	"lorefs/nodes/blockcache"
	"lorefs/protocol"
)

// Options are options for opening a source. Each kind uses its own.
type Options struct {
	// CacheSize is the size in bytes of the cache of decoded blocks.
	CacheSize int64
	// NoIndex neither uses nor saves an index, which makes the next start quicker. CacheBase
	// is the folder for indexes; the default is the user's cache folder.
	NoIndex   bool
	CacheBase string

	DataCenter DataCenterOptions
	CASC       CASCOptions
	Packets    PacketOptions
	Tables     TableOptions
	Remote     RemoteOptions

	// Pinned says that the source is read as it was when it was opened, if its files are replaced
	// meanwhile, as saves do: see [Source.TakeUnsaved].
	Pinned bool

	// Progress, if it is not nil, is called with the progress of the first pass over the
	// source.
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
	// Whole says that the caller reads all of the data center next: what the first pass inflates
	// stays in the cache.
	Whole bool
	// Once says that the caller goes through all of the data center next, once.
	Once bool
	// SizesLater says that the caller needs no sizes of sheets before it has read them.
	SizesLater bool
}

// CASCOptions are for CASC storages.
type CASCOptions struct {
	// Storage are the options of package casc; this package sets the ones that users can't
	// choose.
	Storage casc.Options
	// ListFiles are paths of files that list names of files.
	ListFiles []string
	// ShowMissing shows files whose content is not in the storage.
	ShowMissing bool
	// CDN is for storages on the hosts of a CDN.
	CDN CDNOptions
}

// PacketOptions are for recorded sessions and packet definitions.
type PacketOptions struct {
	// Definitions is the folder of definitions for a recording; empty for none.
	Definitions string
	// Patch is the version of the game, Revision the version of its client. The default is
	// what the recording says.
	Patch    protocol.Patch
	Revision string
	// Platform is the platform whose definitions are preferred.
	Platform string
	// Inline means that fields are where definitions list them, without pointers.
	Inline bool
	// Follow has a recording grow as its file does. Else it stays as it was when it was opened.
	Follow bool
}

// TableOptions are for client tables.
type TableOptions struct {
	// Definitions is the folder of definitions; empty for none. Asked says that it was given for this
	// source, so that a folder without any is a mistake. Else it is a setting, which may be for packets.
	Definitions string
	Asked       bool
	// Build is the version of the game, for tables that don't tell theirs.
	Build dbd.Build
	// Locale is the language of strings that a table has in several.
	Locale string
	// Underscores has Name_0 in CSV for the first value of an array, in place of Name[0].
	Underscores bool
}

// Opening has the options and what sources share.
type Opening struct {
	*Options
	// Blocks is the cache of decoded blocks.
	Blocks *blockcache.Cache
}

// NewOpening returns options with what is missing filled in, and a cache.
func NewOpening(o *Options) Opening {
	filled := *o
	if filled.Progress == nil {
		filled.Progress = func(int64, int64) {}
	}
	if filled.Logger == nil {
		filled.Logger = slog.New(slog.DiscardHandler)
	}
	return Opening{&filled, blockcache.New(o.CacheSize)}
}

// CDNOptions are for CASC storages on the hosts of a CDN.
type CDNOptions struct {
	// Region is where the build is for; Build is its version, number or key, and CDN the key of
	// the configuration of the CDN. Default: us, the latest build, and the configuration that
	// belongs to it.
	Region, Build, CDN string
	// Hosts are asked for objects in place of the listed ones, and VersionHosts say in place of
	// the real ones which builds there are.
	Hosts, VersionHosts []string
	// Offline means that only the cache is read.
	Offline bool
	// WholeFiles says that all of each file will be read once, and kept by who reads it. The
	// cache gets nothing of them.
	WholeFiles bool
	// CacheDir is the folder of the cache; the default is in the user's cache folder.
	// CacheLimit is how many bytes it may have; the default is mirror.DefaultLimit.
	CacheDir   string
	CacheLimit int64
	// ProductKeys are the keys of products whose objects are all encrypted, by their names.
	ProductKeys map[string][16]byte
}
