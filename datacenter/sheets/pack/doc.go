// Package pack makes data centers of folders of sheets, and checks sheets against their
// schemas.
//
// [Pack] reads each sheet once, on all processors. This survey finds for each path the
// attributes, the possible types of their values, and whether the schemas fit. It leaves
// stand-ins for the nodes, which are then passed to a [datacenter.Builder], with all names
// in order. [Validate] reads each sheet once, and reports everything that Pack would
// refuse, and departures from the schema. Both accept the files that [IsInput] accepts, and
// apply the same limits of a data center.
package pack
