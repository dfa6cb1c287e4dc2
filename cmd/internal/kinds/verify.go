package kinds

import (
	"context"
	"fmt"
	"iter"

	"lorefs/casc"
)

// VerifyOptions are the options of Verify.
type VerifyOptions struct {
	// Strict also finds what the format allows but a careful writer avoids.
	Strict bool
	// Since skips the archives of a CASC storage before the place where an earlier check was
	// interrupted.
	Since casc.Place
}

// Finding is something that breaks a rule of a format.
type Finding struct {
	// Object is the finding for JSON, and Line for people.
	Object any
	Line   fmt.Stringer
}

// inflatedFinding is a finding in a compressed file as a JSON object.
type inflatedFinding struct {
	Offset int64  `json:"offset"`
	InFile bool   `json:"in_file"`
	Where  string `json:"where"`
	What   string `json:"what"`
}

// NewFinding returns what is wrong at an offset in a file or, unless inFile is set, in what is inflated of it.
func NewFinding(off int64, inFile bool, where, what string, line fmt.Stringer) Finding {
	return Finding{inflatedFinding{off, inFile, where, what}, line}
}

// Verify checks everything that the format defines. Errors of opening the source are an
// [*Error]. A check that can go on later ends with an [*InterruptedError].
func (k *Kind) Verify(ctx context.Context, path string, opts *Options, v VerifyOptions) iter.Seq2[Finding, error] {
	return k.Findings(ctx, path, NewOpening(opts), v)
}
