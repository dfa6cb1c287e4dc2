// Package picture draws zones as people like to see them, lays them out side by side, and writes
// the pictures as PNG files that say what a pixel means.
//
// The files are not compressed, so that their sizes are known before they are drawn.
package picture
