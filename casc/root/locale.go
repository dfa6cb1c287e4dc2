package root

import (
	"fmt"
	"strings"
)

// Locale is a set of languages.
type Locale uint32

// The languages of World of Warcraft.
const (
	LocaleEnUS Locale = 0x2
	LocaleKoKR Locale = 0x4
	LocaleFrFR Locale = 0x10
	LocaleDeDE Locale = 0x20
	LocaleZhCN Locale = 0x40
	LocaleEsES Locale = 0x80
	LocaleZhTW Locale = 0x100
	LocaleEnGB Locale = 0x200
	LocaleEnCN Locale = 0x400
	LocaleEnTW Locale = 0x800
	LocaleEsMX Locale = 0x1000
	LocaleRuRU Locale = 0x2000
	LocalePtBR Locale = 0x4000
	LocaleItIT Locale = 0x8000
	LocalePtPT Locale = 0x10000
)

var localeNames = []struct {
	locale Locale
	name   string
}{
	{LocaleEnUS, "enUS"},
	{LocaleKoKR, "koKR"},
	{LocaleFrFR, "frFR"},
	{LocaleDeDE, "deDE"},
	{LocaleZhCN, "zhCN"},
	{LocaleEsES, "esES"},
	{LocaleZhTW, "zhTW"},
	{LocaleEnGB, "enGB"},
	{LocaleEnCN, "enCN"},
	{LocaleEnTW, "enTW"},
	{LocaleEsMX, "esMX"},
	{LocaleRuRU, "ruRU"},
	{LocalePtBR, "ptBR"},
	{LocaleItIT, "itIT"},
	{LocalePtPT, "ptPT"},
}

// ParseLocale reads the name of one language, such as enUS, in any case.
func ParseLocale(name string) (Locale, error) {
	for _, l := range localeNames {
		if strings.EqualFold(l.name, name) {
			return l.locale, nil
		}
	}
	return 0, fmt.Errorf("casc: no locale is called %q", name)
}

// Fallback returns the languages that stand for those of the set where a game has nothing in
// them: US English for British English, and Portuguese of Brazil for that of Portugal.
func (l Locale) Fallback() (stand Locale) {
	if l&LocaleEnGB != 0 {
		stand |= LocaleEnUS
	}
	if l&LocalePtPT != 0 {
		stand |= LocalePtBR
	}
	return stand &^ l
}

// String returns the languages of the set with bars between, and unknown bits in hex.
func (l Locale) String() string {
	var names []string
	for _, n := range localeNames {
		if l&n.locale != 0 {
			names = append(names, n.name)
			l &^= n.locale
		}
	}
	if l != 0 || names == nil {
		names = append(names, fmt.Sprintf("%#x", uint32(l)))
	}
	return strings.Join(names, "|")
}

// ContentFlags say what a file of World of Warcraft is for.
type ContentFlags uint32

// The known flags.
const (
	ContentWindows            ContentFlags = 0x8
	ContentMacOS              ContentFlags = 0x10
	ContentX86                ContentFlags = 0x20
	ContentX64                ContentFlags = 0x40
	ContentLowViolence        ContentFlags = 0x80
	ContentDontLoad           ContentFlags = 0x100
	ContentARM64              ContentFlags = 0x8000
	ContentEncrypted          ContentFlags = 0x8000000
	ContentNoNames            ContentFlags = 0x10000000
	ContentUncommonResolution ContentFlags = 0x20000000
	ContentBundle             ContentFlags = 0x40000000
	ContentNoCompression      ContentFlags = 0x80000000
)

// Rank orders files of one name or number, the lowest first. The game loads files with
// ContentNoCompression after others, and never those with ContentLowViolence or
// ContentDontLoad; so these get a name only if no other file has it.
func (f ContentFlags) Rank() int {
	switch {
	case f&(ContentLowViolence|ContentDontLoad) != 0:
		return 2
	case f&ContentNoCompression != 0:
		return 1
	}
	return 0
}

// LocaleNames returns the names of all languages.
func LocaleNames() (names []string) {
	for _, l := range localeNames {
		names = append(names, l.name)
	}
	return names
}
