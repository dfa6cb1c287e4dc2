package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// What goes over the control socket are frames: lines of JSON, none longer than maxFrame.
// A request is one frame. An answer is one, too, but what may be longer, such as a list, goes
// ahead of it, in frames of their own that say that there is more.

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

// textsAtOnce is how many texts of a kind a frame tells of at most. Each has a path and a
// reason of some hundred bytes, of some thousand at worst.
const textsAtOnce = 64

// sendAnswer writes an answer, with as many frames as its texts take.
func sendAnswer(w io.Writer, a answer) error {
	left := a.left()
	for len(left.Refused) > textsAtOnce {
		if err := sendFrame(w, answer{More: true, Left: leftOut{Refused: left.Refused[:textsAtOnce]}}); err != nil {
			return err
		}
		left.Refused = left.Refused[textsAtOnce:]
	}
	for len(left.Failed) > textsAtOnce {
		if err := sendFrame(w, answer{More: true, Left: leftOut{Failed: left.Failed[:textsAtOnce]}}); err != nil {
			return err
		}
		left.Failed = left.Failed[textsAtOnce:]
	}
	return sendFrame(w, a)
}

// answer reads one that sendAnswer has written. At the end, and within it, it gives io.EOF.
func (f frames) answer() (answer, error) {
	refused, failed := []refusedText{}, []refusedText{}
	for {
		var a answer
		if err := f.next(&a); err != nil {
			return answer{}, err
		}
		left := a.left()
		refused, failed = append(refused, left.Refused...), append(failed, left.Failed...)
		if !a.More {
			left.Refused, left.Failed = refused, failed
			return a, nil
		}
	}
}
