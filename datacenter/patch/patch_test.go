package patch_test

import (
	"bytes"
	"context"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
)

func open(t testing.TB, sheets ...*dctest.Node) *datacenter.File {
	t.Helper()
	return dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(sheets...)}, dctest.Options{}))
}

func of(name string, attrs ...any) *dctest.Node {
	n := &dctest.Node{Name: name}
	for i := 0; i < len(attrs); i += 2 {
		n.Attrs = append(n.Attrs, dctest.Attr{Name: attrs[i].(string), Value: attrs[i+1]})
	}
	return n
}

func under(n *dctest.Node, kids ...*dctest.Node) *dctest.Node {
	n.Children = append(n.Children, kids...)
	return n
}

func keyed(n *dctest.Node, keys ...string) *dctest.Node {
	n.Keys = keys
	return n
}

// fataler is what a test and a check of package rapid have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func makePatch(t fataler, a, b *datacenter.File) *patch.Patch {
	t.Helper()
	p, err := patch.Make(context.Background(), a, b, "")
	if err != nil {
		t.Fatal(err)
	}
	return reread(t, p)
}

// makeDraft makes the patch of a draft.
func makeDraft(t fataler, d *edit.Draft, name string) *patch.Patch {
	t.Helper()
	s := d.Snapshot()
	defer s.Close()
	p, err := patch.MakeDraft(context.Background(), s, name)
	if err != nil {
		t.Fatal(err)
	}
	return reread(t, p)
}

// reread writes a patch and reads it.
func reread(t fataler, p *patch.Patch) *patch.Patch {
	t.Helper()
	text := p.Append(nil)
	q, err := patch.Parse("mod", text)
	if err != nil {
		t.Fatalf("%v of\n%s", err, text)
	}
	if again := q.Append(nil); !bytes.Equal(again, text) {
		t.Fatalf("written again:\n%s\nwant\n%s", again, text)
	}
	return q
}

// apply applies patches to a file, in a draft of it.
func apply(t fataler, f *datacenter.File, patches ...*patch.Patch) (*edit.Draft, []*patch.Result) {
	t.Helper()
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := patch.NewApplier(f, d)
	var results []*patch.Result
	for _, p := range patches {
		r, err := a.Plan(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Apply(context.Background(), r.Edits...); err != nil {
			t.Fatalf("%v of\n%s", err, p.Append(nil))
		}
		results = append(results, r)
	}
	return d, results
}

// saved is what a draft is written as.
func saved(t testing.TB, d *edit.Draft) *datacenter.File {
	t.Helper()
	s := d.Snapshot()
	defer s.Close()
	var out bytes.Buffer
	if _, err := s.Write(context.Background(), datacenter.WriteOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	return dctest.Open(t, out.Bytes())
}

// differences are those of two files, as text.
func differences(t fataler, a, b *datacenter.File) string {
	t.Helper()
	var text []byte
	for d, err := range diff.Compare(context.Background(), a, b, diff.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		text = d.Append(text)
	}
	return string(text)
}

// conflicts are those of a result, as text.
func conflicts(r *patch.Result) (text string) {
	for _, it := range r.Items {
		if it.Outcome == patch.Conflict {
			text += r.Describe(it) + "\n"
		}
	}
	return text
}
