package datacenter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	"lorefs/datacenter/internal/form"
)

// CompareCounts counts the nodes of a file in the order of the file and along the paths. It returns the
// error of counting, after whether the first way was enough, and what differs.
func CompareCounts(ctx context.Context, r io.ReaderAt, size int64) (inOrder bool, difference string, countErr error) {
	f, err := form.Open(ctx, r, size, form.Options{})
	if err != nil {
		return false, "", err
	}
	count := func(inOrder bool) (*form.Tally, error) {
		t, err := f.TableNodes(ctx)
		if err != nil {
			return nil, err
		}
		return t.Tally(f.Regions.Attributes, f.Regions.Nodes, inOrder)
	}
	want, wantErr := count(false)
	if !reflect.DeepEqual(f.CountErr, wantErr) {
		return false, fmt.Sprintf("opened: %v, along the paths: %v", f.CountErr, wantErr), wantErr
	}
	if wantErr == nil && !reflect.DeepEqual(f.Tally, *want) {
		return false, fmt.Sprintf("opened: %+v, along the paths: %+v", f.Tally, *want), nil
	}
	got, err := count(true)
	inOrder = !errors.Is(err, form.ErrRecount)
	if inOrder && (!reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr)) {
		difference = fmt.Sprintf("in order: %+v, %v, along the paths: %+v, %v", got, err, want, wantErr)
	}
	return inOrder, difference, wantErr
}
