package edit_test

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds"
)

// BenchmarkDraftSet sets attributes of a real file one by one, each in another node. The
// nodes are at equal distances among those with attributes.
func BenchmarkDraftSet(b *testing.B) {
	const edits = 10_000
	data, err := os.ReadFile(testneeds.Fixture(b, "datacenter/p115_small_x64.dat"))
	if err != nil {
		b.Fatal(err)
	}
	f := dctest.Open(b, data)
	targets := benchTargets(b, f, edits)
	for b.Loop() {
		b.StopTimer()
		written := 0
		d, err := edit.NewDraft(f, func(r []byte) error {
			written += len(r)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		before := heap()
		b.StartTimer()
		for i, t := range targets {
			t.Value = datacenter.IntValue(int32(i))
			if err := d.Apply(context.Background(), t); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		b.ReportMetric(float64(heap()-before)/edits, "heap-B/edit")
		b.ReportMetric(float64(written)/edits, "record-B/edit")
		runtime.KeepAlive(d)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*edits), "µs/edit")
}

// BenchmarkDraftSave writes a real file after one edit, and compares the result.
func BenchmarkDraftSave(b *testing.B) {
	data, err := os.ReadFile(testneeds.Fixture(b, "datacenter/p115_small_x64.dat"))
	if err != nil {
		b.Fatal(err)
	}
	f := dctest.Open(b, data)
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		b.Fatal(err)
	}
	targets := benchTargets(b, f, 10)
	targets[5].Value = datacenter.IntValue(1)
	if err := d.Apply(b.Context(), targets[5]); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var out bytes.Buffer
		s := d.Snapshot()
		w, err := s.Write(b.Context(), datacenter.WriteOptions{}, &out)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		g := dctest.Open(b, out.Bytes())
		b.StartTimer()
		if err := w.Compare(b.Context(), g); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// benchTargets returns edits of one attribute in each of n nodes, without values.
func benchTargets(b *testing.B, f *datacenter.File, n int) []edit.Edit {
	b.Helper()
	root, err := f.Root()
	if err != nil {
		b.Fatal(err)
	}
	t := targetFinder{b: b, step: f.Counts().Nodes / int64(n) * 8 / 10} // 20 % have no attributes
	t.visit(root)
	if len(t.found) < n {
		b.Fatalf("%d nodes with attributes", len(t.found))
	}
	return t.found[:n]
}

type targetFinder struct {
	b          *testing.B
	next       edit.Number
	met, step  int64
	found      []edit.Edit
	nextTarget int64
}

func (t *targetFinder) visit(n datacenter.Node) {
	number := t.next
	t.next += 1 + edit.Number(n.AttributeCount())
	if t.met++; t.met >= t.nextTarget && n.AttributeCount() > 0 {
		for a, err := range n.Attributes() {
			if err != nil {
				t.b.Fatal(err)
			}
			if a.Name() != "__value__" {
				t.found = append(t.found, edit.Edit{Op: edit.SetAttribute, Node: number, Name: a.Name()})
				t.nextTarget = t.met + t.step
			}
			break
		}
	}
	for c, err := range n.Children() {
		if err != nil {
			t.b.Fatal(err)
		}
		t.visit(c)
	}
}

// BenchmarkDraftWide sets an attribute in each child of a node with many children.
func BenchmarkDraftWide(b *testing.B) {
	doc := legalDoc(b, "65,535 children")
	doc.Root.Children = doc.Root.Children[:1]
	for b.Loop() {
		b.StopTimer()
		d := draftOf(b, doc, dctest.Options{})
		b.StartTimer()
		for i := range 10_000 {
			n := edit.Number(2 + 2*6*i) // each child has one attribute
			if err := d.Apply(context.Background(), edit.Edit{
				Op: edit.SetAttribute, Node: n, Name: "id", Value: datacenter.IntValue(int32(i)),
			}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*10_000), "µs/edit")
}

// BenchmarkDraftSaveWhileEdited saves a real file with 100,000 edits while it is edited. It
// reports how long the slowest edit had to wait.
func BenchmarkDraftSaveWhileEdited(b *testing.B) {
	const edits = 100_000
	data, err := os.ReadFile(testneeds.Fixture(b, "datacenter/p115_small_x64.dat"))
	if err != nil {
		b.Fatal(err)
	}
	f := dctest.Open(b, data)
	targets := benchTargets(b, f, edits)
	slowest, meanwhile := time.Duration(0), 0
	for b.Loop() {
		b.StopTimer()
		d, err := edit.NewDraft(f, nil)
		if err != nil {
			b.Fatal(err)
		}
		for i, t := range targets {
			t.Value = datacenter.IntValue(int32(i))
			if err := d.Apply(b.Context(), t); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		stop := make(chan struct{})
		var work sync.WaitGroup
		work.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				t, began := targets[i*7919%len(targets)], time.Now()
				t.Value = datacenter.IntValue(int32(-i))
				if err := d.Apply(b.Context(), t); err != nil {
					b.Error(err)
					return
				}
				slowest = max(slowest, time.Since(began))
				meanwhile++
			}
		})
		b.StartTimer()
		saveAndRebase(b, d)
		b.StopTimer()
		close(stop)
		work.Wait()
		b.StartTimer()
	}
	b.ReportMetric(float64(slowest.Microseconds())/1000, "slowest-ms")
	b.ReportMetric(float64(meanwhile)/float64(b.N), "edits-meanwhile")
}

func saveAndRebase(b *testing.B, d *edit.Draft) {
	b.Helper()
	s := d.Snapshot()
	defer s.Close()
	var out bytes.Buffer
	w, err := s.Write(b.Context(), datacenter.WriteOptions{}, &out)
	if err != nil {
		b.Fatal(err)
	}
	g := dctest.Open(b, out.Bytes())
	if err := w.Compare(b.Context(), g); err != nil {
		b.Fatal(err)
	}
	if err := d.Rebase(b.Context(), w, g, func([][]byte) error { return nil }); err != nil {
		b.Fatal(err)
	}
}
