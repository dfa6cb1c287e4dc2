// Package pack makes data centers of folders of sheets, and checks sheets against their
// schemas.
//
// [Pack] reads each sheet twice, on all processors. The first reading, the survey, finds
// for each path the attributes, the possible types of their values, and whether the schemas
// fit. The second one passes the nodes to a [datacenter.Builder], which then has all names
// in order. [Validate] reads each sheet once, and reports everything that Pack would
// refuse, and departures from the schema. Both accept the files that [IsInput] accepts, and
// apply the same limits of a data center.
package pack
