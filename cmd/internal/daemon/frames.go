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
// of its own, which say that more follows. An empty line says that the other side is at work.

// maxFrame is the length of the longest frame, with the end of the line.
const maxFrame = 1 << 20

var errLongFrame = fmt.Errorf("a frame on the control socket has more than %d bytes", maxFrame)

// frames reads frames.
type frames struct{ lines *bufio.Reader }

func newFrames(r io.Reader) frames { return frames{bufio.NewReader(r)} }

// next reads a frame into v. An empty line is none: found is false then. At the end, and in
// a frame that is cut off, it returns io.EOF.
func (f frames) next(v any) (found bool, err error) {
	for text := []byte(nil); ; {
		part, err := f.lines.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxFrame:
			return false, errLongFrame
		case err == nil && len(text) == 1:
			return false, nil
		case err == nil:
			return true, json.Unmarshal(text, v)
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
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
