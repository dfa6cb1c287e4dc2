package packetlines

import (
	"cmp"
	"strconv"
	"strings"

	"lorefs/cmd/internal/cli"
	"lorefs/internal/jsonscan"
	"lorefs/internal/shown"
)

// condition compares the values of a field to a text. It holds if it does for any of them.
type condition struct {
	field
	operator string
	value    string
}

// operators are all there are, the longer ones first.
var operators = []string{"!=", "<=", ">=", "=", "<", ">", "~"}

func parseCondition(expr string) (c condition, err error) {
	at := strings.IndexAny(expr, "=!<>~")
	if at > 0 {
		for _, op := range operators {
			if value, ok := strings.CutPrefix(expr[at:], op); ok {
				c.operator, c.value = op, unquoted(strings.TrimSpace(value))
				break
			}
		}
	}
	if c.operator == "" {
		return c, cli.UsageErrorf("--where %s: want a field, one of %s, and a value, such as data.channel=4", shown.Quote(expr), strings.Join(operators, " "))
	}
	if c.field, err = parseField(strings.TrimSpace(expr[:at])); err != nil {
		return c, cli.UsageErrorf("--where: %w", err)
	}
	return c, nil
}

// unquoted takes the quotes of a text off, if it has some.
func unquoted(text string) string {
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

func (c *condition) holds(line []byte) (holds bool) {
	c.each(line, func(value []byte) { holds = holds || c.holdsFor(value) })
	return holds
}

// holdsFor tells whether the condition holds for a value or, of an array, for one of its elements.
func (c *condition) holdsFor(value []byte) (holds bool) {
	if value[0] != '[' {
		return c.compare(text(value))
	}
	s := jsonscan.New(value)
	s.Open('[')
	for i := 0; s.More(i, ']'); i++ {
		if element := s.Value(nesting); !s.Failed() {
			holds = holds || c.holdsFor(element)
		}
	}
	return holds
}

// compare compares as numbers what are numbers. All else is equal or not, and neither less nor greater.
func (c *condition) compare(text string) bool {
	if c.operator == "~" {
		return strings.Contains(text, c.value)
	}
	order, ok := compareNumbers(text, c.value)
	switch c.operator {
	case "=":
		return text == c.value || ok && order == 0
	case "!=":
		return text != c.value && (!ok || order != 0)
	case "<":
		return ok && order < 0
	case "<=":
		return ok && order <= 0
	case ">":
		return ok && order > 0
	}
	return ok && order >= 0
}

// compareNumbers compares two numbers. Those of 64 bits, which are texts in JSON, are compared exactly.
func compareNumbers(a, b string) (order int, ok bool) {
	if x, err := strconv.ParseInt(a, 10, 64); err == nil {
		if y, err := strconv.ParseInt(b, 10, 64); err == nil {
			return cmp.Compare(x, y), true
		}
	}
	if x, err := strconv.ParseUint(a, 10, 64); err == nil {
		if y, err := strconv.ParseUint(b, 10, 64); err == nil {
			return cmp.Compare(x, y), true
		}
	}
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	return cmp.Compare(x, y), errA == nil && errB == nil
}
