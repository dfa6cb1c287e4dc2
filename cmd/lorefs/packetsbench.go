package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"lorefs/internal/kinds"
	"lorefs/internal/source"
	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
)

const (
	unitPackets = "packets" + perSecond
	readRow     = "read from the log"
)

// benchPackets measures how fast a recorded session is opened, read and decoded.
func benchPackets(ctx context.Context, b *benchRun) error {
	debug.SetMemoryLimit(int64(b.flags.source.cacheSize) + baseMemory)
	var opening []float64
	rates := make([][]float64, len(packetRows))
	table := ""
	for range b.flags.repeat {
		start := time.Now()
		file, session, err := b.session(ctx)
		if err != nil {
			return err
		}
		opening = append(opening, time.Since(start).Seconds())
		n, err := measurePackets(ctx, session, rates)
		table = fmt.Sprintf("%d of %d packets, those that fit their definition", n, session.Log().Len())
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	b.add("opening", "until the first packet can be read", unitSeconds, opening)
	for i, row := range packetRows {
		b.add(table, row.what, unitPackets, rates[i])
		if len(rates[i]) > 0 && row.what != readRow {
			b.relate(readRow)
		}
	}
	return nil
}

// session opens a recorded session without a tree.
func (b *benchRun) session(ctx context.Context) (file *source.File, s *dissect.Session, err error) {
	var lib *protocol.Library
	if dir := b.flags.source.packets.definitions; dir != "" {
		if _, lib, err = kinds.OpenDefinitions(dir, protocol.LibraryOptions{}); err != nil {
			return nil, nil, err
		}
	}
	if file, err = source.Open(b.path); err != nil {
		return nil, nil, err
	}
	log, err := capture.Open(ctx, file, file.Size(), capture.Options{})
	if err == nil {
		s, err = dissect.New(log, lib, dissect.Options{})
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, s, nil
}

// packetRows are what is done with the packets of a session.
var packetRows = []struct {
	what string
	do   func(t *protocol.Table, packet, text []byte) ([]byte, error)
}{
	{readRow, func(_ *protocol.Table, _, text []byte) ([]byte, error) { return text, nil }},
	{"read and decoded to values", func(t *protocol.Table, packet, text []byte) ([]byte, error) {
		_, err := t.Decode(packet)
		return text, err
	}},
	{"read and decoded to JSON", func(t *protocol.Table, packet, text []byte) ([]byte, error) {
		return t.AppendJSON(text[:0], packet)
	}},
}

// measurePackets does each of packetRows with all packets that their definition fits,
// adds how many that is a second, and gives their number.
func measurePackets(ctx context.Context, s *dissect.Session, rates [][]float64) (int, error) {
	r := packetRunner{session: s}
	for i := range s.Log().Len() {
		r.numbers = append(r.numbers, i)
	}
	fitting, err := r.run(ctx, packetRows[len(packetRows)-1].do)
	if err != nil || len(fitting) == 0 {
		return 0, err
	}
	r.numbers = fitting
	for i, row := range packetRows {
		start := time.Now()
		if _, err := r.run(ctx, row.do); err != nil {
			return 0, err
		}
		rates[i] = append(rates[i], float64(len(fitting))/time.Since(start).Seconds())
	}
	return len(fitting), nil
}

// packetRunner reads some packets of a session, with buffers that are used again.
type packetRunner struct {
	session      *dissect.Session
	numbers      []int
	packet, text []byte
}

// run does something with each packet that has a definition, and gives the numbers of
// those where that was no error.
func (r *packetRunner) run(ctx context.Context, do func(t *protocol.Table, packet, text []byte) ([]byte, error)) ([]int, error) {
	log := r.session.Log()
	good := make([]int, 0, len(r.numbers))
	for _, i := range r.numbers {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t := r.session.Code(log.Code(i)).Table
		if t == nil {
			continue
		}
		p, err := log.Packet(i, r.packet)
		if dissect.IsDamage(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if cap(p.Data) > cap(r.packet) {
			r.packet = p.Data
		}
		if r.text, err = do(t, p.Data, r.text); err == nil {
			good = append(good, i)
		}
	}
	return good, nil
}
