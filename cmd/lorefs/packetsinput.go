package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"lorefs/internal/kinds"
	"lorefs/internal/shown"
	"lorefs/protocol"
)

// maxHexLine is the longest line of hex: the longest packet with a space between its
// bytes, and what is before it.
const maxHexLine = 3*protocol.MaxPacket + 1024

// input is what decode and encode read, part by part.
type input struct {
	*bufio.Reader
	io.Closer
	name string
	// at is the number of the part that was read last, a line unless values is set.
	at     int
	values bool
}

// place is where the part lies that was read last.
func (in *input) place() string {
	if in.values {
		return fmt.Sprintf("%s: value %d", in.name, in.at)
	}
	return fmt.Sprintf("%s:%d", in.name, in.at)
}

// openInput opens the file that an argument names, or stdin for - and for nothing.
func openInput(c *cobra.Command, args []string) (*input, error) {
	if err := atMostArgs(1)(c, args); err != nil {
		return nil, err
	}
	if len(args) == 0 || args[0] == "-" {
		return &input{Reader: bufio.NewReaderSize(c.InOrStdin(), maxHexLine), Closer: io.NopCloser(nil), name: "stdin"}, nil
	}
	f, err := os.Open(args[0])
	if err != nil {
		return nil, kinds.Unreadable(args[0], err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(&commandError{code: exitSource, err: fmt.Errorf("%s is a directory: want a file", args[0])}, f.Close())
	}
	return &input{Reader: bufio.NewReaderSize(f, maxHexLine), Closer: f, name: args[0]}, nil
}

// line reads a line; the error is [io.EOF] behind the last one.
func (in *input) line() ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		err = fmt.Errorf("%s:%d: a line of more than %d bytes", in.name, in.at+1, maxHexLine)
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// each reads part by part, and prints what do appends for each. A part that can't be
// done is told and left out.
func (in *input) each(c *cobra.Command, read func() ([]byte, error), do func(dst, part []byte) ([]byte, error)) error {
	out := bufio.NewWriter(c.OutOrStdout())
	failed := false
	var dst []byte
	for {
		part, err := read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		in.at++
		if dst, err = do(dst[:0], part); err != nil {
			failed = true
			// In the order in which they come, as both may go to one terminal.
			err = errors.Join(out.Flush(), toldError(c, fmt.Errorf("%s: %w", in.place(), err)))
		} else {
			_, err = out.Write(dst)
		}
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil || !failed {
		return err
	}
	return &commandError{code: exitFailure}
}

// toldError tells of a part that can't be done while others can.
func toldError(c *cobra.Command, err error) error {
	_, writeErr := shown.Fprintf(c.ErrOrStderr(), "lorefs: %s\n", errorText(err))
	return writeErr
}
