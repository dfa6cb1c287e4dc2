// Package casckind is the kind of source of a CASC storage. Begin with casc.go, which opens one, on this
// machine or elsewhere: cdn.go on the hosts of a CDN, with encrypted.go for products that are all encrypted,
// and mirror.go on a server.
//
//   - describe.go, file.go: what info prints
//   - names.go: lists of names
//   - verify.go, diff.go, fetch.go: the commands of these names
package casckind
