// Package worldtree shows a folder of world geometry, .zgd and .apd files, as a
// [nodes.Tree]:
//
//	zones/x1002y1006.json              a zone as JSON
//	squares/x1002y1006/017-093.json    one of its 14,400 squares, with world coordinates
//	heightmaps/x1002y1006.png          the lowest floors, in 16-bit grey
//	heightmaps/x1002y1006.top.png      the highest floors
//	heightmaps/x1002y1006.preview.png  the lowest floors, shaded, in 8-bit grey
//	areas/vk_dq_sd_03_p.json           an area as JSON
//	areas/vk_dq_sd_03_p.geojson        its graph as GeoJSON
//	meshes/vk_dq_sd_03_p.obj           its graph as a mesh of lines
//	meshes/zones/x1002y1006.obj        the floors of a zone as a mesh
//	statistics/zones/x1002y1006.json   and what they sum up to
//	statistics/areas/vk_dq_sd_03_p.json
//	missing.json                       if Options.Missing makes it
//
// Names are lower case, whatever the files' are; a file is found by its name in
// any case, a directory only as it is listed. The order is that of the names.
//
// # What is held in memory
//
// A file is decoded when something of it is first asked for, which includes the
// size of what is made of it: sizes are exact, so that listing a directory decodes
// all that is in it, once. The sizes are remembered, by a [Memory] also until the
// next time: a file counts as the same if its size, its time and its ends are.
// Should a size be wrong all the same, reading the file fails. All else is blocks of a cache
// that the caller brings: decoded zones and areas, the places of the parts of
// texts, and pictures. What was read last is kept even where the cache has no room
// for it: else each piece of a text would take decoding all. Texts, also those of 90 MB, are made as they are read.
//
// An [Editable] keeps what was edited, until it is saved: for each zone the whole
// of it packed, 1 to 2 MB, and up to 512 squares that differ from that; for an area
// the whole packed. All 635 zones of the game edited are 0.8 GB, which saving gives
// back; nothing else bounds it. Besides, it holds texts: those that are being written,
// scratch files, and what was refused, EditOptions.MaxTexts together.
//
// # Editing
//
// A text that is written to the JSON of a zone, a square or an area becomes what the
// source holds, as a whole, when it is closed; all that is made of it shows that. A text
// that is refused keeps nobody from editing the same zone by another of its files, nor from
// saving that. Package overlay tells of the states of files.
//
// # Bad files
//
// A file that cannot be decoded is listed, and reading what is made of it fails
// with an error that says why. As the size of what cannot be made it has its own,
// at least 1: a file of size 0 would be read as an empty one. Only the directory
// of its squares cannot be listed. Files of other names are left out; so are those
// that give the same name as another, and the log says so.
//
// IDs are made of names, so they stay the same when other files come and go.
package worldtree
