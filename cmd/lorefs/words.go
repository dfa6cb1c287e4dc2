package main

import "fmt"

type integer interface{ int | int64 | uint64 }

// plural is a number of things: 1 edit, 2 edits.
func plural[N integer](n N, one string) string {
	return fmt.Sprintf("%d %s", n, verb(n, one, one+"s"))
}

// was and is go with a number of things.
func was[N integer](n N) string { return verb(n, "was", "were") }
func is[N integer](n N) string  { return verb(n, "is", "are") }

// they is the subject of what happens to a number of things.
func they[N integer](n N) string { return verb(n, "it is", "they are") }

// verb is the form of a word that goes with a number of things.
func verb[N integer](n N, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
