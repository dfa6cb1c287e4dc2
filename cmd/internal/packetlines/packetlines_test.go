package packetlines

import (
	"bufio"
	"strings"
	"testing"

	"lorefs/internal/tabular"
)

const line = `{"number":5,"time":"2020-09-01T20:00:00.76Z","from":"client","name":"C_CHAT","packet":{"code":20417,` +
	`"data":{"channel":4,"big":"9223372036854775809","message":"a \"b\"","half":"\ud800","on":true,"rate":0.5,"none":null,"list":[{"id":1,"of":[7]},{"id":2,"of":[]}],"name":"x"}}}`

func TestConditions(t *testing.T) {
	for expr, want := range map[string]bool{
		"data.channel=4":              true,
		"channel = 4.0":               true,
		"channel!=4":                  false,
		"channel<=3":                  false,
		"channel>3":                   true,
		"channel>=4":                  true,
		"channel<5":                   true,
		"big=9223372036854775809":     true,
		"big>9223372036854775808":     true,
		"big<9223372036854775809":     false,
		`message='a "b"'`:             true,
		"message~b":                   true,
		"message<b":                   false,
		"on=true":                     true,
		"rate=0.50":                   true,
		"list.id=2":                   true,
		"list.id=3":                   false,
		"list.id!=1":                  true,
		"list.of=7":                   true,
		"sender=client":               true,
		"from=server":                 false,
		"name=C_CHAT":                 true,
		"data.name=x":                 true,
		"packet.code=20417":           true,
		"code=20417":                  true,
		"number<6":                    true,
		"nothing=1":                   false,
		"nothing!=1":                  false,
		"channel.deeper=4":            false,
		"time~2020-09-01":             true,
		`message="a=b"`:               false,
		"packet.data.list.of.deep=no": false,
	} {
		c, err := parseCondition(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.holds([]byte(line)); got != want {
			t.Errorf("%s: %v", expr, got)
		}
	}
	for _, expr := range []string{"", "=4", "channel", "a..b=1", ".=1", "channel!4"} {
		if _, err := parseCondition(expr); err == nil {
			t.Errorf("%q is a condition", expr)
		}
	}
}

func TestFields(t *testing.T) {
	for format, want := range map[tabular.Format]string{
		tabular.CSV:   "sender,channel,data.message,half,none,list.id,list,missing.id\nclient,4,\"a \"\"b\"\"\",\uFFFD,,\"[1,2]\",\"[{\"\"id\"\":1,\"\"of\"\":[7]},{\"\"id\"\":2,\"\"of\"\":[]}]\",\n",
		tabular.JSONL: `{"sender":"client","channel":4,"data.message":"a \"b\"","half":"\ud800","none":null,"list.id":[1,2],"list":[{"id":1,"of":[7]},{"id":2,"of":[]}],"missing.id":null}` + "\n",
	} {
		var b strings.Builder
		f := Flags{fields: "sender, channel,data.message,half,none,list.id,list,missing.id", format: format.String()}
		p, err := f.Printer(bufio.NewWriter(&b))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.line([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if err := p.Flush(); err != nil || b.String() != want {
			t.Errorf("%v: %s, %v; want %s", format, b.String(), err, want)
		}
	}
	for _, f := range []Flags{{fields: "a,a"}, {fields: "a,"}, {format: "xls"}, {where: []string{"a"}}} {
		if _, err := f.Printer(bufio.NewWriter(&strings.Builder{})); err == nil {
			t.Errorf("%+v is right", f)
		}
	}
}
