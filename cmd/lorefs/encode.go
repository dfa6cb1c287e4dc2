package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"lorefs/protocol"
)

func newEncode() *cobra.Command {
	var f codecFlags
	c := &cobra.Command{
		Use:   "encode [FILE | -]",
		Short: "turn JSON into packets",
		Long: `encode reads packets as JSON, one object behind the other, and prints each as a line
of hex digits. It takes what decode prints, and the files of a mounted session; members
that are left out of data are zero. Without FILE it reads stdin.

The definition is that of --def, or one of --definitions: that of --name, else the one
that the object names, else that of its code by the map of --revision. A packet without
a code gets that of --code, else the map's.

A packet that can't be encoded does not keep the others from it; the exit code is 1 then.`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			k, err := f.codec()
			if err != nil {
				return err
			}
			in, err := openInput(c, args)
			if err != nil {
				return err
			}
			defer in.Close()
			return in.each(c, in.readValues(), k.encode)
		},
	}
	f.add(c.Flags())
	return c
}

func atMostOne(c *cobra.Command, args []string) error { return atMostArgs(1)(c, args) }

// readValues reads JSON value by value, whatever the space between them. A mistake in the
// JSON itself ends it, as there is no telling where the next value begins.
func (in *input) readValues() func() ([]byte, error) {
	in.values = true
	dec := json.NewDecoder(in.Reader)
	return func() ([]byte, error) {
		var value json.RawMessage
		err := dec.Decode(&value)
		if err != nil && !errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: value %d, before offset %d: %w", in.name, in.at+1, dec.InputOffset(), err)
		}
		return value, err
	}
}

// envelope is a packet with what is known of it, as decode and a mount show it.
type envelope struct {
	Definition string          `json:"definition"`
	Packet     json.RawMessage `json:"packet"`
	// Hex is there instead of Packet for one that nobody could decode.
	Hex string `json:"hex"`
	// Code is there in a packet that is no envelope.
	Code *uint16 `json:"code"`
}

// encode appends a packet as a line of hex digits.
func (k *codec) encode(dst, value []byte) ([]byte, error) {
	var e envelope
	if err := json.Unmarshal(value, &e); err != nil {
		return dst, fmt.Errorf("want a packet: %w", err)
	}
	if e.Packet == nil && e.Hex != "" {
		packet, err := hex.DecodeString(e.Hex)
		return appendHexLine(dst, packet), err
	}
	var named packetName
	if e.Packet != nil {
		value = e.Packet
		if err := json.Unmarshal(value, &e); err != nil {
			return dst, fmt.Errorf("want a packet: %w", err)
		}
		var err error
		if named, err = parsePacketName(e.Definition); err != nil {
			return dst, fmt.Errorf("the member definition is %w", err)
		}
	}
	packet, err := k.encodePacket(named, e.Code, value)
	return appendHexLine(dst, packet), err
}

func appendHexLine(dst, packet []byte) []byte {
	return append(hex.AppendEncode(dst, packet), '\n')
}

func (k *codec) encodePacket(named packetName, code *uint16, value []byte) ([]byte, error) {
	known := uint16(0)
	if code != nil {
		known = *code
	}
	table, err := k.table(named, known)
	if err != nil {
		return nil, err
	}
	m, err := table.ParseJSON(value)
	if err != nil {
		return nil, err
	}
	if code == nil {
		if m.Code, err = k.codeOf(table); err != nil {
			return nil, err
		}
	}
	return encodeMessage(table, m)
}

// encodeMessage says what helps against a layout that no longer fits.
func encodeMessage(table *protocol.Table, m *protocol.Message) ([]byte, error) {
	packet, err := table.Encode(m)
	if errors.Is(err, protocol.ErrLayout) {
		err = fmt.Errorf("%w (without the member layout it can be encoded)", err)
	}
	return packet, err
}
