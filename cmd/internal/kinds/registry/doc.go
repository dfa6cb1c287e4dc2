// Package registry knows all kinds of sources: [All] lists them, and [Find] finds that of the source at a
// path, or on a server (distant.go).
package registry
