// Package worldtree shows a folder of world geometry, .zgd and .apd files, as a
// [nodes.Tree]:
//
//	zones/x1002y1006.json              a zone as JSON
//	squares/x1002y1006/017-093.json    one of its 14,400 squares, with world coordinates
//	heightmaps/x1002y1006.png          the lowest floors, in 16-bit grey
//	heightmaps/x1002y1006.top.png      the highest floors
//	heightmaps/x1002y1006.preview.png  the lowest floors for people: coloured, shaded, with contours
//	areas/vk_dq_sd_03_p.json           an area as JSON
//	areas/vk_dq_sd_03_p.geojson        its graph as GeoJSON
//	meshes/vk_dq_sd_03_p.obj           its graph as a mesh of lines
//	meshes/zones/x1002y1006.obj        the floors of a zone as a mesh
//	statistics/zones/x1002y1006.json   figures of a zone
//	statistics/areas/vk_dq_sd_03_p.json
//	world.png                          the previews of all zones in one picture
//	world.svg                          zones, and outlines and names of areas
//	missing.json                       if Options.Missing makes it
//
// Names are lower case, whatever the files' are. A file is found by its name in any case, a
// directory only as it is listed. Listings are sorted by name.
//
// # Memory
//
// A file is decoded when something of it is first needed, including the size of a text. Sizes
// are exact, so listing a directory of texts with sizes decodes everything in it, once, but
// makes no text: the code that writes them counts their bytes. Pictures are not compressed, and
// drawings are filled up with spaces, so that their sizes are known before anything is decoded:
// a listing of a game's folder would else take as long as drawing all of it. Sizes of texts are
// remembered, and a [Memory] keeps them for the next run: a file counts as the same if its
// size, its time and its ends are. If a size is wrong all the same, reading the file fails.
// Everything else is in blocks of the caller's cache: decoded zones and areas, the offsets of
// the parts of texts, and pictures. The blocks that were read last are kept even if the cache
// has no room for them, because otherwise each piece of a text would need decoding again. The
// pictures of the world are drawn once, at the first read after an edit; world.png has up to 17
// MB. Texts, also those of 90 MB, are made as they are read.
//
// An [Editable] keeps edits until they are saved: for each edited zone the whole zone
// packed, 1 to 2 MB, and up to 512 squares that differ from it; for an area the whole area
// packed. All 635 zones of the game edited take 0.8 GB until they are saved; there is no
// other bound. It also holds texts of at most EditOptions.Limits.Texts together: those that are
// being written, scratch files, and refused ones.
//
// # Editing
//
// A text that is written to the JSON of a zone, a square or an area becomes the source's
// content as a whole when it is closed, and all views show it. A refused text keeps nobody
// from editing the same zone by another of its files, or from saving that. Package overlay
// describes the states of files.
//
// An edit is a square or an area that differs from the file in the folder (Edits, Pending). So
// what is set and set back is none, and a text of a zone makes as many edits as squares differ.
// Only a zone whose file can't be decoded is one edit as a whole, since nothing can be compared
// with it. If a file has no edit, a save does not write it. Revert takes edits back: it logs
// what was there as an edit like any other.
//
// # Bad files
//
// A file that can't be decoded is listed, and reading its views fails with an error that
// says why. A text that can't be made has the size of the source's file, or 1: a file of
// size 0 would be read as an empty one. Only the directory of its squares can't be listed.
// Files with other names are left out, and so are files whose name in the tree is taken;
// the log says so.
//
// IDs are made of names, so they stay the same when other files come and go.
package worldtree
