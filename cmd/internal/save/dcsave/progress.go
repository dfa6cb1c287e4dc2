package dcsave

import "lorefs/cmd/internal/save"

// Progress has functions to be called with how far the parts of a save are: writing the new
// file, opening it again, and comparing it with what was to be written.
type Progress struct {
	Writing, Reading, Comparing func(done, total int64)
}

// ProgressOf returns functions that call show with how far the whole save is. Each part counts
// for what it takes of the time with a large file.
func ProgressOf(show func(save.Progress)) Progress {
	const writing, reading, comparing = 65, 15, 20
	return Progress{
		Writing:   partOf(show, save.Writing, 0, writing),
		Reading:   partOf(show, save.Checking, writing, reading),
		Comparing: partOf(show, save.Checking, writing+reading, comparing),
	}
}

// partOf returns the function for a part of a save. before and part are percent.
func partOf(show func(save.Progress), stage string, before, part int64) func(done, total int64) {
	return func(done, total int64) {
		show(save.Progress{Stage: stage, Done: before*total + part*done, Total: 100 * total})
	}
}
