// Package nodetest is the conformance suite of [nodes.Tree]: [Run] checks a tree by its
// methods, [RunMounted] checks that a mount of it shows the same. Each tree of lorefs runs
// both.
//
// A tree may be far too large to check all of it, so both check a limited number of nodes,
// spread over the tree: see [Limit].
//
// Tests and benchmarks can use a tree in memory as a source, [Mem], or one that can be edited,
// [Mutable]. [FS] shows a tree as an [io/fs.FS], which [testing/fstest] can check.
package nodetest
