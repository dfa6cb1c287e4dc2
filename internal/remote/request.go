package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// maxWhole bounds an object that is fetched as a whole, in bytes. The limits of what is
	// known to be smaller keep a host from filling the memory with it before it is checked.
	maxWhole = 1 << 30
	// maxConfig bounds a configuration or an answer of a service. The largest have less than
	// 100 kB.
	maxConfig = 16 << 20
	// maxIndex bounds an index. The largest have less than 1 MB.
	maxIndex = 64 << 20
	// maxDropped is the size of an object up to which it is read as a whole if the host
	// does not send the range of it that was asked for.
	maxDropped = 1 << 20
	// maxFirst is how much memory is taken for what a host says that it sends, in bytes.
	maxFirst = 1 << 20
	// maxHeader bounds the header of an answer, in bytes.
	maxHeader = 256 << 10
	// maxPage is how much of an answer that can't be used is read, so that its connection can
	// be used again.
	maxPage = 4 << 10
)

// request asks a host for something.
type request struct {
	// path is the path below the host's URL.
	path string
	// name is the key in the path, or zero if it is no object.
	name Key
	// off and size are a range; without size it is the whole object.
	off, size int64
	// most bounds a whole object, in bytes.
	most int64
	// check proves what came. With a *partlyError the rest of it is right.
	check func([]byte) error
	// once means that the hosts are asked once each, since there is another way. One that is busy
	// is waited for all the same: the other way would only lead to more requests.
	once bool
	// exchange, if it is not nil, makes the request and reads the answer instead.
	exchange *Exchange
}

// ask asks one host. It returns how many bytes came, also with an error, and the bytes with an
// error of the check.
func (c *Client) ask(ctx context.Context, h *host, r request) (data []byte, n int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body := newCounted(c.times, cancel)
	defer body.watch.Stop()
	req, err := r.newRequest(ctx, h)
	if err != nil {
		return nil, 0, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err // the host and the path are named anyway
		}
		return nil, 0, because(ctx, err)
	}
	defer resp.Body.Close()
	body.Reader = resp.Body
	if r.exchange != nil && r.exchange.Long {
		body.gotOn = c.progress.gotOn
	}
	data, err = r.read(resp, body)
	if err != nil {
		err = because(ctx, err)
		if _, status := errors.AsType[*statusError](err); !status {
			err = &bodyError{err, body.cut && ctx.Err() == nil}
		}
		return nil, body.n, err
	}
	page := isHTML(resp, data)
	if r.name != (Key{}) {
		c.decrypt(r.name, r.off, data)
	}
	if err := r.check(data); err != nil {
		if page {
			err = fmt.Errorf("%w: %w", errHTML, err)
		}
		return data, body.n, &bodyError{err: err}
	}
	return data, body.n, nil
}

// newRequest makes the request for a host.
func (r request) newRequest(ctx context.Context, h *host) (*http.Request, error) {
	at := h.URL + "/" + r.path
	if r.exchange != nil {
		at = r.exchange.URL
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	if r.exchange != nil {
		maps.Copy(req.Header, r.exchange.Header)
	}
	req.Header.Set("User-Agent", "lorefs")
	req.Header.Set("Accept-Encoding", "identity") // the bytes have to be as their hash says
	if r.size > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", r.off, r.off+r.size-1))
	}
	return req, nil
}

// because returns why a context has ended, if it has, and otherwise err.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// counted counts what comes, and ends the request if that is nothing or too slow.
type counted struct {
	io.Reader
	n     int64
	times Times
	// cancel ends the request. watch does so unless another byte comes.
	cancel context.CancelCauseFunc
	watch  *time.Timer
	// came counts what has come in the time waited, which is without that in which nobody has read.
	came   int
	waited time.Duration
	// gotOn is called when enough has come, if it is not nil.
	gotOn func()
	// cut says that what came ended before its end.
	cut bool
}

// newCounted returns what will read the body of an answer.
func newCounted(t Times, cancel context.CancelCauseFunc) *counted {
	return &counted{times: t, cancel: cancel, watch: time.AfterFunc(t.Connect+t.Header, func() { cancel(errStalled) })}
}

func (c *counted) Read(p []byte) (int, error) {
	began := time.Now()
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	if n > 0 {
		c.watch.Reset(c.times.Progress)
	}
	c.came += n
	c.waited += time.Since(began)
	switch {
	case c.came >= leastBytes:
		c.came, c.waited = 0, 0
		if c.gotOn != nil {
			c.gotOn()
		}
	case err == nil && c.waited > c.times.Slow:
		c.cancel(errSlow)
		return n, errSlow
	}
	c.cut = c.cut || err != nil && err != io.EOF
	return n, err
}

// read reads the answer.
func (r request) read(resp *http.Response, body io.Reader) ([]byte, error) {
	if coding := codingOf(resp.Header); coding != "" && resp.StatusCode/100 == 2 { // of others only the status counts
		return nil, fmt.Errorf("the answer is packed with %.40q", coding)
	}
	if r.exchange != nil {
		return r.exchange.Read(resp, body)
	}
	switch {
	case resp.StatusCode == http.StatusOK && r.size == 0:
		return readAll(body, resp.ContentLength, maxFirst, r.most)
	case resp.StatusCode == http.StatusOK:
		return r.cut(resp, body)
	case resp.StatusCode == http.StatusPartialContent && r.size > 0:
		if err := r.checkRange(resp.Header.Get("Content-Range")); err != nil {
			return nil, err
		}
		return readAll(io.LimitReader(body, r.size), r.size, r.size, r.size)
	}
	return nil, StatusError(resp, body)
}

// codingOf returns how an answer is packed, or "" if it is not.
func codingOf(h http.Header) string {
	for word := range strings.SplitSeq(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		switch word = strings.TrimSpace(word); strings.ToLower(word) {
		case "", "identity":
		case "aws-chunked": // is how an object was sent to a store, of which some keep the header
		case "utf-8", "utf8", "binary", "none": // are no codings, but often said by who puts objects into stores
		default:
			return word
		}
	}
	return ""
}

// cut cuts the range out of a whole object, if that is small or not larger than the range.
func (r request) cut(resp *http.Response, body io.Reader) ([]byte, error) {
	if size := resp.ContentLength; size < 0 || size > maxDropped && size != r.size {
		return nil, fmt.Errorf("the whole object came, not the %d bytes from %d on", r.size, r.off)
	}
	data, err := readAll(body, resp.ContentLength, maxFirst, max(maxDropped, r.size))
	if err != nil {
		return nil, err
	}
	if r.off > int64(len(data)) || r.size > int64(len(data))-r.off {
		return nil, fmt.Errorf("the object has %d bytes, not %d from %d on", len(data), r.size, r.off)
	}
	return data[r.off : r.off+r.size], nil
}

// checkRange checks that a range is the one that was asked for.
func (r request) checkRange(text string) error {
	want := fmt.Sprintf("bytes %d-%d/", r.off, r.off+r.size-1)
	if !strings.HasPrefix(text, want) {
		return fmt.Errorf("the range %.60q came, not %s", text, strings.TrimSuffix(want, "/"))
	}
	return nil
}

// readAll reads want bytes, or all if want is negative, but no more than most. It takes memory
// for first bytes at once, and more as the bytes come, since a length that a host states is
// only a claim.
func readAll(r io.Reader, want, first, most int64) ([]byte, error) {
	if want > most {
		return nil, fmt.Errorf("%d bytes are too many", want)
	}
	var b bytes.Buffer
	if want > 0 {
		b.Grow(int(min(want, first)) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(io.LimitReader(r, most+1)); err != nil {
		return nil, err
	}
	switch n := int64(b.Len()); {
	case n > most:
		return nil, fmt.Errorf("more than %d bytes came", most)
	case want >= 0 && n != want:
		return nil, fmt.Errorf("%d bytes came, not %d: %w", n, want, io.ErrUnexpectedEOF)
	}
	return b.Bytes(), nil
}

// parseRetryAfter returns the time that a header says: seconds, or a date.
func parseRetryAfter(text string) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		const day = 24 * 60 * 60
		return time.Duration(max(0, min(seconds, day))) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}

// isHTML tells whether an answer is a page for people. It only makes the message clearer.
func isHTML(resp *http.Response, data []byte) bool {
	return strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") ||
		strings.HasPrefix(http.DetectContentType(data), "text/html")
}
