// Package kinds knows the kinds of sources, and makes of each what commands need: it finds
// out which kind lies at a path, opens it as a tree, describes it, checks it, and lets it be
// edited. What users say, and how they are told, is the caller's: options come as values, and
// errors have types (errors.go).
//
// Each kind is a [Kind], which has a file of its own:
//
//   - datacenter.go: a file of TERA's data, with the folder of geometry that it names
//   - world.go: a folder of TERA's world geometry
//   - casc.go: a CASC storage, as a game or a mirror has it
//   - packets.go: a recorded session, or a folder of packet definitions
//
// [Find] gives the kind of a path, [Open] a [Source] of it, and [Kind.Verify] what is wrong
// with it. Source.Edit makes a source editable; its sessions then know what is not saved yet,
// and what can't be (leftout.go).
package kinds
