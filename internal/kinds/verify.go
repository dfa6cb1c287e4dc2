package kinds

import (
	"context"
	"fmt"
	"iter"

	"lorefs/casc"
)

// VerifyOptions are what a check is told.
type VerifyOptions struct {
	// Strict also tells of what the format allows but a careful writer avoids.
	Strict bool
	// Since leaves out archives of a CASC storage before that place, where another check
	// was interrupted.
	Since casc.Place
}

// Finding is something that breaks a rule of a format. As JSON, it is an object; as a string,
// a line.
type Finding struct {
	Object any
	Line   fmt.Stringer
}

// inflatedFinding is the object of a finding in a file that is stored compressed.
type inflatedFinding struct {
	Offset int64  `json:"offset"`
	InFile bool   `json:"in_file"`
	Where  string `json:"where"`
	What   string `json:"what"`
}

// Verify checks all that the format allows to be checked. Errors that come from the source,
// rather than from what was found in it, are an [*Error] or, if the check can go on later, an
// [*InterruptedError].
func (k *Kind) Verify(ctx context.Context, path string, opts *Options, v VerifyOptions) iter.Seq2[Finding, error] {
	return k.verify(ctx, path, newOpening(opts), v)
}
