// Package objects reads what lies on a web server or in an object store: single objects, and
// trees of them. No hash proves such an object, and it may change. So it is pinned when it is
// first seen: by its length, its ETag, and the time of its last change. Each answer has to show
// the same again, or the read fails with an error that matches [source.ErrChanged].
//
//	what the server says            what is done
//	ETag                            ranges are read when they are needed
//	Last-Modified, no strong ETag   the same
//	neither, or no ranges           the object is copied as a whole when it is opened
//
// A weak ETag that is still the same proves nothing, but another one is a change. So is an ETag that
// is gone. Only a listing may have one that the server doesn't send.
//
// Ranges are read in chunks of 1 MiB. As long as reads follow each other one request asks for
// more of them each time, up to 16 MiB. Chunks stay in memory, as far as there is room, and in
// the cache on disk (package mirror). There each has its MD5 behind it, and the name of the
// object is made from its address and its pin:
//
//	chunk 0, MD5, chunk 1, MD5, …, the rest, MD5
//
// An object store lists what lies below a prefix. A web server lists nothing: a tree on one
// has a file index.txt at its top, which has the path of a file in each line, as find prints
// them.
//
// Secrets never leave the function that signs a request: names and passwords in a URL, query
// strings, and the keys of an object store are in no message.
package objects
