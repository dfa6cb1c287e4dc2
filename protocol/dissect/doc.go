// Package dissect reads a recorded session by a folder of definitions: what each
// packet is called, which definition it is read by, and how many of them that
// definition fits.
//
// The name of a packet is the map's for its code, else the one that the log has with
// the first packet of the code that it names, else the code itself, in digits. A map
// is good for one client revision only. Where neither the
// log nor the user says which it is, a map is taken if the folder has no other.
//
// The definition is the highest version of that name that is good for the patch,
// or the version that the log names.
package dissect
