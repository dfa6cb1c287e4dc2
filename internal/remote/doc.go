// Package remote fetches the objects of a storage from the hosts of a CDN, or from a mirror of
// one. An object has the address
//
//	HOST/PATH/config/ab/cd/KEY
//	HOST/PATH/data/ab/cd/KEY
//	HOST/PATH/data/ab/cd/KEY.index
//
// where KEY are 32 hexadecimal digits that begin with abcd. A file that is part of an archive
// is a range of that archive.
//
// Nothing is believed. What a host sends is used, and kept in the cache (package mirror), only
// if the MD5 in its name or a function of the caller proves it. Whatever else comes is a failure
// of the host: a wrong status, bytes that prove wrong, a page of HTML, a body that is too short,
// too slow, or does not go on. Then the next host is asked. When all have failed, those that may have the
// object are asked again, three times with growing pauses. What no host gave then is not asked for
// again for half a minute, or for ever if it is nowhere.
//
// Hosts are asked in the order of the list. A later one is asked when those before it have
// failed, or have as many requests as they may. A host that failed comes after the others for
// five minutes. A host that says Retry-After is left alone for that long, at most half a minute.
//
// A host that refuses requests because there are too many gets no more of them for that: what it
// has refused is asked for again as it was, and not in parts, and the tries that were for failures
// are left for those. From then on its requests have a pace, which it shows by its answers and its
// refusals. A connection that is cut is treated alike.
//
// Each of that ends in time. A client that does not get on for half an hour all the same gives the
// hosts up for half a minute, so that no command runs for ever (progress.go).
//
// Lists of hosts have parameters, for which there is no document:
//
//   - fallback=1: the host is asked only when all others have failed.
//   - strict=1: no host behind this one is asked.
//   - maxhosts=N: taken as at most N requests at a time. If N means the addresses that a name
//     stands for, that holds as well, since N connections reach at most N addresses.
//
// All who want the same at the same time share one request. Each of them stops waiting when
// its own context ends, and the request is cancelled when the last one has left.
package remote
