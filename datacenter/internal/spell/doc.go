// Package spell spells names and values that XML can't hold, and orders names, in sheets
// and schemas; see the documentation of package sheets. Encoders, readers and schemas share
// it.
package spell
