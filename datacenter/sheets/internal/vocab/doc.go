// Package vocab numbers the names and key definitions of a data center and its draft, and
// knows how sheets spell them. The numbers stay the same as long as file and draft are in
// use. Encoders and planners share them.
package vocab
