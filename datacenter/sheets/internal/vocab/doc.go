// Package vocab gives numbers to the names and key definitions of a data center and its
// draft, which stay the same as long as both live, and knows how sheets spell them. Who
// encodes and who plans have it in common.
package vocab
