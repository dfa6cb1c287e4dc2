// Package kinds recognizes the kinds of sources, and gives commands what they need of each:
// it opens a source as a tree, describes it, checks it, and makes it editable. How users
// name a source and what they read about it is up to the caller: options are values, and
// errors have types (errors.go).
//
// Each kind is a [Kind] in a file of its own:
//
//   - datacenter.go: a TERA data center, with the folder of world geometry that it names
//   - world.go: a folder of TERA's world geometry
//   - casc.go: a CASC storage of a game or of a mirror
//   - cdn.go: a CASC storage on the hosts of a CDN, which cdn_fetch.go makes a mirror of
//   - packets.go: a recorded session, or a folder of packet definitions
//   - bundle.go: a file that holds other files, of any format that package bundle can be given
//
// [Find] returns the kind of the source at a path, [Kind.Open] opens it as a [Source], and
// [Kind.Verify] checks it. [Source.Edit] makes it editable; [Source.LeftOut] returns what a
// save would not write.
package kinds
