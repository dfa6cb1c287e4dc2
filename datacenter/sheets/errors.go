package sheets

import "lorefs/datacenter/sheets/internal/xmltext"

// SyntaxError reports a text that is not well-formed, or not the sheet or schema that it should be. It
// says What is wrong in which File, and in which Line and Column, from 1 on.
type SyntaxError = xmltext.SyntaxError

// ValueError reports something in a text that a data center can't hold, or that does not fit its type. It
// has the File, the Line and the Column, Where that names the value, and Err.
type ValueError = xmltext.ValueError
