package daemon

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"sync"
	"time"
)

// Client has sent a request, and gets the answer.
type Client struct {
	conn net.Conn
	// gone ends the context of the request.
	gone context.CancelFunc
	// in has the frames that follow the request, and is closed when the client has gone.
	in chan json.RawMessage

	// mu guards writing.
	mu sync.Mutex
}

// Send sends a frame. A client that does not read it counts as gone after a while: it must
// not keep the process, whose locks last until it ends.
func (c *Client) Send(frame any) error {
	return c.write(func() error { return sendFrame(c.conn, frame) })
}

func (c *Client) write(send func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.conn.SetWriteDeadline(time.Now().Add(talkTimeout))
	if err == nil {
		err = send()
	}
	if err != nil {
		c.gone()
	}
	return err
}

// Next reads a frame that follows the request. ctx is that of the request. When the client
// has gone it returns [io.EOF].
func (c *Client) Next(ctx context.Context, frame any) error {
	select {
	case text, ok := <-c.in:
		if !ok {
			return io.EOF
		}
		return json.Unmarshal(text, frame)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listen reads what the client sends, until it goes or the request is answered.
func (c *Client) listen(ctx context.Context, in frames) {
	defer close(c.in)
	for {
		var text json.RawMessage
		switch found, err := in.next(&text); {
		case err != nil:
			c.gone()
			return
		case !found:
			continue
		}
		select {
		case c.in <- text:
		case <-ctx.Done():
			return
		}
	}
}

// showLife sends empty lines while the request is being answered.
func (c *Client) showLife(ctx context.Context) {
	tick := time.NewTicker(lifeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// The next frame has the same error.
			_ = c.write(func() error { _, err := c.conn.Write([]byte("\n")); return err })
		}
	}
}
