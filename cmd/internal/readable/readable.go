// Package readable finds sentences that are hard to read, for tests of what people read.
package readable

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	// MaxWords is how many words a sentence may have.
	MaxWords = 30
	// MaxPassives is how often a sentence may hide who does something.
	MaxPassives = 1
)

// sentenceEnd is where a sentence ends.
var sentenceEnd = regexp.MustCompile(`[.!?](?:\s+|$)`)

// passive is a form of "be" and a participle. It takes some adjectives for participles, and
// knows only those irregular ones that are frequent here.
var passive = regexp.MustCompile(`\b(?:is|are|isn't|aren't|was|were|be|been|being)\s+(?:\w+ly\s+|not\s+|also\s+|then\s+|never\s+)?` +
	`(?:\w+ed|built|chosen|cut|done|drawn|found|given|held|hidden|kept|known|laid|left|lost|made|meant|put|read|said|seen|` +
	`sent|set|shown|taken|told|written)\b`)

// Faults returns the sentences of a paragraph that are too long or a chain of passives, each
// with what is wrong.
func Faults(paragraph string) (faults []string) {
	for _, s := range sentenceEnd.Split(paragraph, -1) {
		words := strings.Fields(s)
		s = strings.Join(words, " ")
		if len(words) > MaxWords {
			faults = append(faults, fmt.Sprintf("more than %d words: %s", MaxWords, s))
		}
		if len(passive.FindAllString(s, -1)) > MaxPassives {
			faults = append(faults, "nobody does it: "+s)
		}
	}
	return faults
}
