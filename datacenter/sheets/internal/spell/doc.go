// Package spell is how sheets and schemas spell names and values that XML cannot hold, and
// in what order names stand there; the documentation of package sheets describes both.
// Encoders, readers and schemas have it in common.
package spell
