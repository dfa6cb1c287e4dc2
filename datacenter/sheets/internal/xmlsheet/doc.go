// Package xmlsheet reads sheets. A [Parser] yields nodes as the data center has them: it
// undoes the conventions of the namespace urn:lorefs:dc, which the documentation of package
// sheets describes, and drops white space that is only layout.
package xmlsheet
