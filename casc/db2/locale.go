package db2

import "strings"

// Locales are the languages of the game, in the order of their places in WDBC.
var Locales = [...][]string{
	{"enUS", "enGB"},
	{"koKR"},
	{"frFR"},
	{"deDE"},
	{"zhCN", "enCN"},
	{"zhTW", "enTW"},
	{"esES"},
	{"esMX"},
	{"ruRU"},
	{},
	{"ptPT", "ptBR"},
	{"itIT"},
}

// LocalePlace returns the place of a language for [Options], or 0 if there is no such language.
func LocalePlace(name string) int {
	for i, names := range Locales {
		for _, one := range names {
			if strings.EqualFold(one, name) {
				return i + 1
			}
		}
	}
	return 0
}
