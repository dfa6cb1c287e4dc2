// Package rewrite writes a data center anew, edited or not, by moving its stored runs.
package rewrite
