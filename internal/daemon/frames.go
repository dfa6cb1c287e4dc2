package daemon

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// What goes over the control socket are frames: lines of JSON, none longer than maxFrame.
// A request is one frame. An answer is one, too, but what may be longer, such as a list, goes
// ahead of it, in frames of their own, which say themselves that there is more.

// maxFrame is the length of the longest frame, with the end of the line.
const maxFrame = 1 << 20

var errLongFrame = fmt.Errorf("a frame on the control socket has more than %d bytes", maxFrame)

// frames are those that come in.
type frames struct{ lines *bufio.Reader }

func newFrames(r io.Reader) frames { return frames{bufio.NewReader(r)} }

// next reads one into v. At the end, and within a frame that is cut, it gives io.EOF.
func (f frames) next(v any) error {
	for text := []byte(nil); ; {
		part, err := f.lines.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxFrame:
			return errLongFrame
		case err == nil:
			return json.Unmarshal(text, v)
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// sendFrames writes one after the other.
func sendFrames(w io.Writer, all []any) error {
	for _, v := range all {
		if err := sendFrame(w, v); err != nil {
			return err
		}
	}
	return nil
}

// sendFrame writes v as one.
func sendFrame(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(text) >= maxFrame {
		return errLongFrame
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Failure is why a mount in the background did not come, as its process said it.
type Failure struct {
	// Code is the exit code.
	Code int
	Text string
}

func (f *Failure) Error() string { return f.Text }
