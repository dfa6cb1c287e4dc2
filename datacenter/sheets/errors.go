package sheets

import "lorefs/datacenter/sheets/internal/xmltext"

// SyntaxError reports a text that is not well-formed, or not the sheet or schema that it
// should be. It has the file, the line and the column.
type SyntaxError = xmltext.SyntaxError

// ValueError reports something in a text that a data center can't hold, or that does not fit
// its type. It has the file, the line and the column.
type ValueError = xmltext.ValueError
