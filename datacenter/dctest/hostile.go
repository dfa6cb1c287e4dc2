package dctest

import (
	"bytes"
	"compress/flate"
	"math"
	"slices"

	"lorefs/datacenter"
)

// bombSize is about the inflated size of the bombs: more than a reader may accept, but few
// enough bytes for a test to inflate.
const bombSize = 1 << 30

// Hostile returns small files that are large in some way. Broken includes them.
func Hostile(layout datacenter.Layout) []BrokenFile {
	layout = Doc{Layout: layout}.layout()
	return []BrokenFile{
		{"100,000 nested nodes", "nothing, but recursion is deep", Never, layout, Build(inLayout(nested(100000), layout), Options{})},
		{"30 levels of 60 equal children", "nothing, but there are 60^30 ways", Never, layout, Build(inLayout(manyWays(30, 60), layout), Options{})},
		{"slack bomb", "nothing, but full_count is huge", Never, layout, slackBomb(layout)},
		{"bomb behind the footer", "much more is in the stream than is stated", AtVerify, layout, streamBomb(layout, nil)},
		{"bomb of a huge size", "much is behind the footer", AtVerify, layout, streamBomb(layout, new(uint32(math.MaxUint32)))},
	}
}

// manyWays has that many levels, on each of which all children are one node.
func manyWays(levels, children int) Doc {
	n := &Node{Name: "Leaf"}
	for range levels {
		n = &Node{Name: "Level", Children: slices.Repeat([]*Node{n}, children)}
	}
	return Doc{Root: Root(n)}
}

// bombStep is a multiple of the size of an attribute in all layouts.
const bombStep = 6 << 20

// slackBomb returns a data center whose only segment of attributes has much slack.
func slackBomb(layout datacenter.Layout) []byte {
	m := NewImage(inLayout(plain(), layout), Options{})
	s := m.Attributes.Segments[0]
	m.Put32(s.Offset, uint32(s.Full+bombSize/bombStep*bombStep/int(m.Attributes.Size)))
	at := s.Elements + int64(s.Full)*m.Attributes.Size
	return bomb(m.Data[:at], m.Data[at:], SealOptions{})
}

// streamBomb returns a data center followed by zeros. Unless another size is given, it
// states the size without them.
func streamBomb(layout datacenter.Layout, size *uint32) []byte {
	m := NewImage(inLayout(plain(), layout), Options{})
	if size == nil {
		size = new(uint32(len(m.Data)))
	}
	return bomb(m.Data, nil, SealOptions{Size: size})
}

// bomb seals zeros with something before and behind them. The zeros' stream is made once
// and repeated, since a reference back finds zeros in any case.
func bomb(before, behind []byte, o SealOptions) []byte {
	stream := flushed(before)
	zeros := flushed(make([]byte, bombStep))
	stream = append(stream, bytes.Repeat(zeros, bombSize/bombStep)...)
	stream = append(stream, deflate(behind, SealOptions{})...)

	const n = bombSize / bombStep * bombStep
	sum := adlerOf(1, before)
	low, high := sum&0xffff, sum>>16
	sum = low | (high+uint32(n%adlerBase*uint64(low)%adlerBase))%adlerBase<<16
	return sealStream(int64(len(before)+n+len(behind)), stream, adlerOf(sum, behind), o)
}

// flushed returns a deflate stream that another one can follow.
func flushed(data []byte) []byte {
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, flate.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		panic("dctest: BUG: " + err.Error())
	}
	return buf.Bytes()
}

const adlerBase = 65521

// adlerOf continues an Adler-32 sum.
func adlerOf(sum uint32, data []byte) uint32 {
	low, high := sum&0xffff, sum>>16
	for _, c := range data {
		low = (low + uint32(c)) % adlerBase
		high = (high + low) % adlerBase
	}
	return high<<16 | low
}
