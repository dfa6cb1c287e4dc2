package shown

import (
	"fmt"
	"strings"
)

// Shell spells a word for a shell, so that a command line with it can be copied from a
// terminal. A word that begins with a dash is taken for the name of a file.
func Shell(word string) string {
	if strings.HasPrefix(word, "-") {
		word = "./" + word
	}
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	switch {
	case word != "" && strings.Trim(word, plain) == "":
		return word
	case Text(word) == word:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'") // of bash, zsh and the next POSIX
	for _, c := range []byte(word) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}
