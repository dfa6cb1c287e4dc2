// Package xmlsheet reads sheets. A [Parser] tells of nodes as the data center has them: it
// undoes what sheets say by attributes of the namespace urn:lorefs:dc, which the
// documentation of package sheets describes, and drops the white space that is there for
// the layout only.
package xmlsheet
