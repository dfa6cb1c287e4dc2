// Package dctest builds data centers in memory for tests: small valid ones, ones that use
// every freedom of the format, deliberately broken ones, and large ones with the
// proportions of real files.
//
// It follows the format as Vezel documents it, and where that leaves a choice, novadrop-dc.
// It works in three steps, and a test may change the result of each:
//
//	Doc ── NewImage ──> Image ── Seal ──> file
//	 │                   │                 │
//	 nodes and values    inflated bytes    deflated and encrypted
//	 as one would        and the place     bytes
//	 write them in XML   of everything
//
// The package shares only the types of a layout and of an address, and the two hashes, with
// the reader and the writer of package datacenter. So it does not repeat their mistakes,
// and a test of both is a test against the documents.
//
// Impossible requests, such as a node of 65,536 children, panic: they are mistakes in a
// test.
package dctest
