package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Watched returns a transport for packages that make requests by themselves: an answer ends
// with an error when nothing comes for as long as a Client waits, or when it has more than most
// bytes.
func Watched(base http.RoundTripper, t Times, most int64) http.RoundTripper {
	return watched{base, t.orDefault(), most}
}

type watched struct {
	http.RoundTripper
	times Times
	most  int64
}

// RoundTrip implements [http.RoundTripper].
func (w watched) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	watch := time.AfterFunc(w.times.Connect+w.times.Header, func() { cancel(errStalled) })
	resp, err := w.RoundTripper.RoundTrip(req.WithContext(ctx))
	if err != nil {
		watch.Stop()
		err = because(ctx, err)
		cancel(nil)
		return nil, err
	}
	resp.Body = &watchedBody{
		counted: counted{Reader: resp.Body, watch: watch, time: w.times.Progress},
		body:    resp.Body, ctx: ctx, cancel: cancel, most: w.most,
	}
	return resp, nil
}

// watchedBody is the body of an answer.
type watchedBody struct {
	counted
	body   io.Closer
	ctx    context.Context //nolint:containedctx // that of the request
	cancel context.CancelCauseFunc
	most   int64
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.counted.Read(p)
	switch {
	case b.n > b.most:
		return 0, fmt.Errorf("more than %d bytes came", b.most)
	case err != nil && err != io.EOF: //nolint:errorlint // readers return it as it is
		err = because(b.ctx, err)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	b.watch.Stop()
	err := b.body.Close()
	b.cancel(nil)
	return err
}
