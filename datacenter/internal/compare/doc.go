// Package compare compares nodes of two data centers, with their subtrees.
package compare
