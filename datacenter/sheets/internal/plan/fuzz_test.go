package plan_test

import (
	"context"
	"testing"

	"lorefs/datacenter/sheets/internal/plan"
)

// FuzzPlan makes a sheet equal to any text, and checks that a second plan has no edits.
func FuzzPlan(f *testing.F) {
	data := zoo()
	p := planOf(f, data)
	whole := p.text(p.sheet("Zoo", 0))
	f.Add(whole)
	f.Add(`<Zoo rate="256.000000"><Keyed key="5"/><Keyed key="5" name="b"/><Item id="100"/><Item id="100"/></Zoo>`)
	f.Add(`<Zoo xmlns:dc="urn:lorefs:dc" dc:flags="1" dc:value="x"><Row dc:keys="v"><Cell v="1"/>text</Row><New a="1"/><New a="x"/></Zoo>`)
	f.Fuzz(func(t *testing.T, text string) {
		const long = 1 << 14
		if len(text) > long {
			return
		}
		p := planOf(t, data)
		s := p.sheet("Zoo", 0)
		plan, err := p.src.Plan(context.Background(), s, "x.xml", []byte(text), plan.Options{})
		if err != nil {
			return
		}
		if err := p.draft.Apply(context.Background(), plan.Edits...); err != nil {
			t.Fatalf("%v: %s", err, ops(plan.Edits))
		}
		if got := ops(p.save(s, text)); got != "" {
			t.Errorf("again: %s", got)
		}
		shown := p.text(s)
		if got := ops(p.save(s, shown)); got != "" {
			t.Errorf("of what is shown: %s\n%s", got, shown)
		}
	})
}
