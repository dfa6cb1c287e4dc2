// Package folder has the objects of a storage in a folder: of an installed game, or of a mirror.
//
// To be read in this order: folder.go, for the builds and the configurations; files.go, for how files
// are opened, and detect.go, for how a storage is recognized; installed.go, for the archives data.NNN
// with their index, and replaced.go, for those that an update has replaced; mirror.go, for archives as
// CDNs have them, and mirror_group.go, for the table of their indexes.
package folder
