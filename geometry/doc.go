// Package geometry reads and writes the world geometry of TERA Arise: zones (.zgd), which
// say where in the world there is room to stand, and areas (.apd), which say how units find
// their way there. It also shows both as JSON and meshes, and zones as heightmaps.
//
// [DecodeZone] and [DecodeArea] read files; [Zone.Encode] and [Area.Encode] write them.
//
// It follows the description of the formats in TERA Arise's arise-geometry. All numbers are
// little-endian. Both files are one Brotli stream, without a header or a checksum.
// Decompressed:
//
//	zone   = square ×120×120
//	square = cell ×8×8
//	cell   = volume_count:1 volume ×volume_count
//	volume = z:2 height:2
//
//	area   = node_count:4 node ×node_count zone_count:4 zone ×zone_count
//	node   = position:4 ×3 (float32) directions:1 target:4 ×popcount(directions)
//	zone   = position:4 ×2 square ×120×120
//	square = node_index:4 node_count:1
//
// Squares and cells are in the order of x, and of y where x is equal. A volume's z (signed)
// and height (unsigned) are differences, modulo 65,536, from those of the volume written
// before it anywhere in the zone; the first is the difference from zero. A cell without
// volumes does not change them.
//
// The original server has the same data in other files, which can be read as well: a zone
// is an .idx and a .geo file, the paths of an area are a .gdi and a .nod file. Squares and
// cells are in the same order; z and height are absolute.
//
//	idx    = ( volumes:4 volume_count:2 ×8×8 ) ×120×120
//	geo    = volume ×volumes
//	gdi    = first_x:4 first_y:4 last_x:4 last_y:4 node_count:4
//	         ( node_count:2 ×120×120 ) ×zones ( node_index:4 ×120×120 ) ×zones
//	nod    = ( position:4 ×3 target:4 ×8 distance:4 ×8 ) ×node_count
//
// There a target of -1 is no edge. No such file was at hand, so their readers are tested
// with made-up files only.
//
// # Units
//
// Lengths are position units of the game: 25 are a metre, 16 the side of a cell, 128 that
// of a square and 15,360 that of a zone. A zone does not state its position; its file's
// name does (x1002y1006.zgd). The data center states in which zone the origin of its world
// is (AreaList.Continent@originZoneX, @originZoneY). Zone x1002y1006 of a world with the
// origin zone 1000, 1000 begins at 30720, 92160.
//
// # In memory
//
// A Zone and an Area are one slice of bytes each ([Zone.Image], [Area.Image]), so that a
// cache of blocks can hold them, and no object is made for a cell or a node.
//
// # Open questions
//
// The documentation of bits 0 to 7 of a node's directions (WSW, SSW, SSE, ESE, ENE, NNE,
// NNW, WNW) contradicts the only public sample, whose bit k means an angle from 45k degrees
// up to 45k+45. So edges show the bit and the true direction, and nothing depends on
// either.
//
// In all known files the volumes of a cell ascend; files in which they don't, or overlap,
// are read too. Known areas list a full rectangle of zones; any list without repetition is
// read.
//
// # Not supported
//
// Files, or JSON of files, that decompress to more than [MaxZone] or [MaxArea], unless
// [DecodeOptions] allow it; and Brotli's large windows. The distances in the original
// server's .nod files are dropped, because an area has no place for them.
package geometry
