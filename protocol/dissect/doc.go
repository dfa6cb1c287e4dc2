// Package dissect reads a recorded session by a folder of definitions: the name and
// definition of each packet, and how many packets fit their definition.
//
// [New] takes a session and the definitions, and [Recording.Lines] yields its packets as
// JSON.
//
// The name of a packet is the map's for its code. Else it is the first name that the log
// has for the code, or else the code itself in digits. A map is valid for one client
// revision only. If neither the log nor the user states the revision, a map is used if it
// is the only one in the folder.
//
// The definition is the highest version of that name that is good for the patch, or the
// version that the log names.
package dissect
