package dctest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// words makes names, and reuses them more and more often.
type words struct {
	rng        *rand.Rand
	elements   []string
	attributes []string
}

// The numbers of different names in official files.
const (
	maxElements   = 2300
	maxAttributes = 3400
)

var (
	prefixes = strings.Fields("amber arch bell bright cold dawn deep dusk east ember far fen frost gold gray green grove high hollow iron " +
		"jade lake last lone lost low mist moon new north oak old pale pine quiet red reed river salt shade silver sky small south star stone " +
		"storm sun tall tide west white wild wind winter")
	suffixes = strings.Fields("area band base bond call camp chain cost craft curve data edge event field flag form gate group guard id info " +
		"item kind limit line link list mark mode name order part path place plan point pool range rate reward role rule scale set size slot " +
		"spawn stage state step table task text time title type value view zone")
	koreanNames = strings.Fields("지역 목록 이름 단계 보상 조건 위치 상태 시간 종류 설명 순서 대상 범위 비율")
)

func newWords(rng *rand.Rand) *words { return &words{rng: rng} }

func (w *words) element() string {
	return w.name(&w.elements, maxElements, func(first, last string) string { return title(first) + title(last) })
}

func (w *words) attribute() string {
	return w.name(&w.attributes, maxAttributes, func(first, last string) string { return first + title(last) })
}

// name returns a name of a pool, or most likely a new one while the pool is not full.
func (w *words) name(pool *[]string, limit int, join func(first, last string) string) string {
	if n := len(*pool); n > 0 && (n >= limit || w.rng.IntN(3) == 0) {
		return (*pool)[w.rng.IntN(n)]
	}
	var name string
	if w.rng.IntN(40) == 0 {
		name = koreanNames[w.rng.IntN(len(koreanNames))] + koreanNames[w.rng.IntN(len(koreanNames))]
	} else {
		name = join(prefixes[w.rng.IntN(len(prefixes))], suffixes[w.rng.IntN(len(suffixes))])
	}
	*pool = append(*pool, name)
	return name
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// valuePool makes strings: new ones, the empty one, and old ones.
type valuePool struct {
	rng    *rand.Rand
	values []string
}

func newValuePool(rng *rand.Rand) *valuePool { return &valuePool{rng: rng} }

func (p *valuePool) string() string {
	x := p.rng.Float64()
	switch {
	case x < 0.155:
		return ""
	case x < 0.55 || len(p.values) == 0:
		p.values = append(p.values, p.fresh())
		return p.values[len(p.values)-1]
	}
	// The older, the more often: a few strings are used thousands of times.
	y := p.rng.Float64()
	y *= y
	y *= y
	return p.values[int(y*y*float64(len(p.values)))]
}

// fresh returns a string that is most likely new.
func (p *valuePool) fresh() string {
	n := pick(p.rng, lengths)
	var s strings.Builder
	if p.rng.IntN(13) == 0 {
		p.sentence(&s, n)
	} else {
		p.path(&s, n)
	}
	return s.String()
}

// sentence appends Korean text, sometimes with a new line or with characters that XML must
// escape.
func (p *valuePool) sentence(s *strings.Builder, n int) {
	for units := 0; units < n; {
		size := 1 + p.rng.IntN(4)
		for range size {
			s.WriteRune('가' + rune(p.rng.IntN(11172)))
		}
		separator := " "
		switch p.rng.IntN(60) {
		case 0:
			separator = "\n"
		case 1:
			separator = " & <b>"
		}
		s.WriteString(separator)
		units += size + utf8.RuneCountInString(separator)
	}
}

// path appends a name like those of people with many files.
func (p *valuePool) path(s *strings.Builder, n int) {
	for s.Len() < n {
		if s.Len() > 0 {
			s.WriteByte("._/ "[p.rng.IntN(4)])
		}
		s.WriteString(prefixes[p.rng.IntN(len(prefixes))])
		if p.rng.IntN(3) == 0 {
			fmt.Fprintf(s, "_%02d", p.rng.IntN(100))
		}
	}
}
