// Package xmltext reads XML 1.0 with namespaces, for sheets and their schemas, and has the
// errors of what was read.
//
// A [Reader] goes through a document in memory, UTF-8 or UTF-16 with a byte order mark,
// token by token. Names and values that need no decoding are slices of the document, so
// that nothing is allocated for them. Elements nest as deep as [Reader.MaxDepth], and names
// and texts that no data center can hold are refused before they are copied. Document types
// are refused, because a small file could use them to cause much work.
package xmltext
