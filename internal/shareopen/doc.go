// Package shareopen opens files for reading in a way that lets them be renamed, replaced and
// removed while they are open. On Windows [os.Open] does not allow that: saving a file that is
// still read would fail with a sharing violation.
package shareopen
