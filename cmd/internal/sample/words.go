package sample

import "strings"

// word is a word in English and in Korean.
type word struct{ english, korean string }

func wordList(s string) []word {
	var words []word
	for pair := range strings.FieldsSeq(s) {
		english, korean, _ := strings.Cut(pair, "=")
		words = append(words, word{english, korean})
	}
	return words
}

var (
	materials = wordList("Copper=구리 Tin=주석 Iron=철 Silver=은 Amber=호박 Birch=자작나무 Oak=참나무 Linen=아마포 Wool=양털 Glass=유리")
	things    = wordList("Sword=검 Bow=활 Lantern=등불 Cloak=망토 Boots=장화 Ring=반지 Kettle=주전자 Flute=피리 Map=지도 Rope=밧줄")
	places    = wordList("Aldermoor=알더무어 Brackwater=브랙워터 Cindervale=신더베일 Duskhollow=더스크할로 Emberreach=엠버리치 Fernwick=펀윅 " +
		"Glasshaven=글라스헤이븐 Hollowmere=할로미어 Ironford=아이언포드 Juniper_Pass=주니퍼고개 Kestrel_Point=케스트럴곶 Lowmarsh=로우마시")
	creatures = wordList("Marsh_Hare=늪토끼 Reed_Heron=갈대왜가리 Stone_Toad=돌두꺼비 Lamp_Moth=등불나방 Thorn_Boar=가시멧돼지 Frost_Vole=서리들쥐 " +
		"Salt_Crab=소금게 Moss_Bear=이끼곰")
	people = wordList("Ansa=안사 Borrel=보렐 Cidra=시드라 Dovan=도반 Elspe=엘스페 Farrun=파룬 Gilda=길다 Hesk=헤스크")
	arts   = strings.Fields("Spark Gale Root Tide Ember Veil Stride Mend Ward Echo")
	grades = strings.Fields("common uncommon rare superior")
)

func (w word) String() string { return strings.ReplaceAll(w.english, "_", " ") }

// code returns a word as in names of files and tables.
func (w word) code() string { return strings.ToLower(w.english) }
