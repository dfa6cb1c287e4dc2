package help

import (
	"strings"

	"github.com/spf13/cobra"
)

// Examples are command lines for the help and the man pages, by commands. A test parses them.
var Examples = map[string][]string{
	"lorefs": {
		"lorefs sample sample                 # something to try everything on",
		"lorefs mount sample/DataCenter_Final_Sample.dat mnt",
		"lorefs unmount mnt",
	},
	"lorefs mount": {
		"lorefs mount DataCenter_Final_EUR.dat mnt",
		"lorefs mount --rw --mkdir DataCenter_Final_EUR.dat mnt",
		"lorefs mount --listfile names.csv /games/wow mnt",
		"lorefs mount --definitions tera-data session.TeraLog mnt",
		"lorefs mount --idle 15m --log-file errors.log world mnt",
	},
	"lorefs unmount": {
		"lorefs unmount mnt",
		"lorefs unmount --discard mnt         # gives up what is not saved",
		"lorefs unmount --all",
	},
	"lorefs status":         {"lorefs status", "lorefs status mnt", "lorefs status --json mnt"},
	"lorefs commit":         {"lorefs commit mnt"},
	"lorefs journal":        {"lorefs journal list"},
	"lorefs journal list":   {"lorefs journal list", "lorefs journal list --json"},
	"lorefs journal show":   {"lorefs journal show game.dat", "lorefs journal show --base old.dat game.dat"},
	"lorefs journal replay": {"lorefs journal replay game.dat", "lorefs journal replay --salvage game.dat"},
	"lorefs journal drop":   {"lorefs journal drop game.dat"},
	"lorefs edits": {
		"lorefs edits mnt",
		"lorefs edits mnt/tree/ItemData",
		"lorefs edits mnt '/ItemData/Item[@id=1000]'",
		"lorefs edits --json mnt | jq -r .path",
		"lorefs edits --patch mnt > mod.lorepatch",
	},
	"lorefs revert": {
		"lorefs revert mnt mnt/tree/ItemData/Item/name",
		"lorefs revert mnt sheets/ItemData/ItemData-00001.xml",
		"lorefs revert mnt '/NpcData[@huntingZoneId=3]/Template[@id=1]/@level'",
		"lorefs revert --all mnt",
	},
	"lorefs serve": {
		"lorefs serve --open game.dat         # Ctrl-C ends it",
		"lorefs serve --addr 127.0.0.1:8080 --listfile names.csv /games/wow",
		"lorefs serve --addr 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem world",
	},
	"lorefs info": {
		"lorefs info game.dat",
		"lorefs info --json /games/wow",
		"lorefs info --listfile names.csv /games/wow files/tables/items.csv",
	},
	"lorefs ls": {
		"lorefs ls game.dat tree",
		"lorefs ls -l game.dat tree/ItemData/Item",
		"lorefs ls game.dat 'sheets/*/NpcData-0000[1-3].xml'",
	},
	"lorefs find": {
		"lorefs find /games/wow files --name '*.blp' --size +1M",
		"lorefs find --id 1193046,1193047 /games/wow",
		"lorefs find game.dat --path 'tree/ItemData/*/name'",
	},
	"lorefs cat": {
		"lorefs cat game.dat datacenter.json",
		"lorefs cat game.dat '/NpcData[@huntingZoneId=2]/Template[@id=1001]/Stat/@level'",
		"lorefs cat world world.png > world.png",
		"lorefs cat session.TeraLog session.svg > session.svg",
	},
	"lorefs query": {
		"lorefs query game.dat '/ItemData/Item[@id=5001]/@rank'",
		"lorefs query --count game.dat //Item",
		"lorefs query --names game.dat '/ItemData/Item[@rank=4]/@sellPrice'",
		"lorefs query game.dat /NpcData/Template --columns id,name,Stat/@maxHp --sort=-Stat/@maxHp",
	},
	"lorefs refs": {"lorefs refs game.dat '/ItemData/Item[@id=5001]'"},
	"lorefs fetch": {
		"lorefs fetch cdn:wow mirror/tpr/wow",
		"lorefs fetch /games/wow mirror/tpr/wow",
		"lorefs fetch --listfile names.csv cdn:wow 'files/dbfilesclient/**' tables",
	},
	"lorefs export": {
		"lorefs export game.dat sheets",
		"lorefs export --format json game.dat json",
		"lorefs export --update --delete cdn:wow texts files/interface",
		"lorefs export --since 1.15.7.60000 /games/wow new files",
		"lorefs export --format csv game.dat tables --include 'ItemData/**'",
		"lorefs export --listfile names.csv /games/wow out 'files/**/*.txt'",
	},
	"lorefs verify": {"lorefs verify game.dat", "lorefs verify --strict game.dat", "lorefs verify --json /games/wow"},
	"lorefs diff": {
		"lorefs diff old.dat new.dat",
		"lorefs diff game.dat sheets",
		"lorefs diff --patch old.dat modded.dat > mod.lorepatch",
		"lorefs diff --build OLD,NEW /games/wow",
	},
	"lorefs decode": {
		"lorefs decode --definitions tera-data session.TeraLog",
		"lorefs decode --definitions tera-data --name 'S_*CHAT*' --follow session.TeraLog",
		"lorefs decode --definitions tera-data session.TeraLog --where data.channel=4 --fields time,data.message",
		"lorefs decode --def C_CHAT.1.def 1000c14f0a0001000000680069000000",
	},
	"lorefs encode": {
		"lorefs encode --definitions tera-data packet.json",
		"lorefs decode --def C_CHAT.1.def packets.txt | lorefs encode --def C_CHAT.1.def",
	},
	"lorefs apply": {
		"lorefs apply --dry-run --stat new.dat mod.lorepatch   # what would it do?",
		"lorefs apply --rejects left.lorepatch new.dat mod.lorepatch",
		"lorefs apply new.dat left.lorepatch      # its lines with - corrected by hand",
		"lorefs apply -R new.dat mod.lorepatch    # takes it back",
		"lorefs apply --prefer last game.dat mods/shop.lorepatch mods/bosses.lorepatch",
		"lorefs apply mnt mod.lorepatch && lorefs commit mnt",
	},
	"lorefs build": {
		"lorefs build team.toml new.dat",
		"lorefs build --dry-run --json team.toml new.dat   # who touches what, and who wins?",
		"lorefs build --rejects left.lorepatch team.toml new.dat",
	},
	"lorefs patch": {"lorefs patch merge base.lorepatch ours.lorepatch theirs.lorepatch"},
	"lorefs patch merge": {
		"lorefs patch merge --out merged.lorepatch base.lorepatch ours.lorepatch theirs.lorepatch",
		"git config merge.lorepatch.driver 'lorefs patch merge %O %A %B'",
		"lorefs patch merge --prefer ours base.lorepatch ours.lorepatch theirs.lorepatch",
	},
	"lorefs set": {
		"lorefs set game.dat '//Item[@id=5001]/@price' 100",
		"lorefs set --scale 1.1 game.dat '/ItemData/Item[@rank>=3]/@price'",
		"lorefs set --replace game.dat '/StrSheet_Item/String/@string' 'old text' 'new text'",
		"lorefs set --patch game.dat '//Item[@id=5001]/@price' 100 > mod.lorepatch",
	},
	"lorefs unset": {"lorefs unset game.dat '//Item[@price=0]/@price'"},
	"lorefs add":   {`lorefs add game.dat '//Item[@id=5001]' '<Effect id="7" value="0.5"/>'`},
	"lorefs remove": {
		"lorefs remove --dry-run game.dat '//Item[@id=5001]/Effect'",
		"lorefs remove mnt '//Npc[@id=7]' && lorefs commit mnt",
	},
	"lorefs pack": {
		"lorefs pack sheets new.dat",
		"lorefs pack --like game.dat sheets new.dat",
		"lorefs pack --kind world json packed",
	},
	"lorefs repack":   {"lorefs repack game.dat smaller.dat", "lorefs repack --layout v6-x86 game.dat other.dat"},
	"lorefs validate": {"lorefs validate sheets"},
	"lorefs schema":   {"lorefs schema game.dat schemas", "lorefs schema --strategy aggressive game.dat schemas"},
	"lorefs sample":   {"lorefs sample sample"},
	"lorefs man":      {"lorefs man pages && man -l pages/lorefs-editing.7"},
	"lorefs version":  {"lorefs version", "lorefs version --json"},
}

// AddExamples gives c and all commands below it their examples.
func AddExamples(c *cobra.Command) {
	for _, line := range Examples[c.CommandPath()] {
		c.Example += "\n  " + line
	}
	c.Example = strings.TrimPrefix(c.Example, "\n")
	for _, sub := range c.Commands() {
		AddExamples(sub)
	}
}
