// Package nodetest is the conformance suite of [nodes.Tree]: [Run] checks a tree
// by its methods, [RunMounted] checks that a mount of it shows the same. Each
// tree of lorefs runs both.
//
// A tree may be far too large to be looked at whole, so both look at a limited
// number of nodes, spread over the tree: see [Limit].
package nodetest
