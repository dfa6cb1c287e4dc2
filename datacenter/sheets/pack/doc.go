// Package pack makes data centers of folders of sheets, and holds sheets against their
// schemas.
//
// [Pack] reads each sheet twice, with all processors. The first reading, the survey, finds
// for each path the attributes, what their values can be, and whether the schemas fit; the
// second hands the nodes to a [datacenter.Builder], whose names are then in their order.
// [Validate] reads each once, and reports all that Pack would refuse and where a sheet
// departs from its schema. Both take the files that [IsInput] tells, and count alike what a
// data center can hold only so much of.
package pack
