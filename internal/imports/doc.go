// Package imports holds the test that keeps the packages of lorefs in layers:
// the command knows all, the mount knows the tree, the trees know their formats,
// and the formats know nobody.
package imports
