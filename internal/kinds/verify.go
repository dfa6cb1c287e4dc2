package kinds

import (
	"context"
	"fmt"
	"iter"

	"lorefs/casc"
)

// VerifyOptions say what a check looks for.
type VerifyOptions struct {
	// Strict also finds what the format allows but a careful writer avoids.
	Strict bool
	// Since skips the archives of a CASC storage before the place where an earlier check was
	// interrupted.
	Since casc.Place
}

// Finding is something that breaks a rule of a format.
type Finding struct {
	// Object is the finding for JSON, Line for people.
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

// Verify checks everything that the format allows to be checked. Errors of opening the source
// are an [*Error]; one of a check that can go on later is an [*InterruptedError].
func (k *Kind) Verify(ctx context.Context, path string, opts *Options, v VerifyOptions) iter.Seq2[Finding, error] {
	return k.verify(ctx, path, newOpening(opts), v)
}
