package daemon

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The control socket carries frames: lines of JSON, none longer than maxFrame. A request is
// one frame. So is an answer; but what may be longer, such as a list, precedes it in frames
// of its own, which say that more follows.

// maxFrame is the length of the longest frame, with the end of the line.
const maxFrame = 1 << 20

var errLongFrame = fmt.Errorf("a frame on the control socket has more than %d bytes", maxFrame)

// frames reads frames.
type frames struct{ lines *bufio.Reader }

func newFrames(r io.Reader) frames { return frames{bufio.NewReader(r)} }

// next reads a frame into v. At the end, and in a frame that is cut off, it returns io.EOF.
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

func sendFrames(w io.Writer, all []any) error {
	for _, v := range all {
		if err := sendFrame(w, v); err != nil {
			return err
		}
	}
	return nil
}

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
