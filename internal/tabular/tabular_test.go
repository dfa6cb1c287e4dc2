package tabular_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"lorefs/internal/tabular"
)

// write writes a table whose first column has numbers, and whose second one has texts. A nil text
// is absent.
func write(t *testing.T, f tabular.Format, texts ...[]byte) (text string, broken int64) {
	t.Helper()
	var b strings.Builder
	w := tabular.NewWriter(&b, f, []string{"id", "na,me"})
	for i, text := range texts {
		w.Plain([]byte{byte('0' + i%10)})
		if text == nil {
			w.Absent()
		} else {
			w.Text(text)
		}
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil || w.Rows() != int64(len(texts)) {
		t.Fatalf("%d rows, %v", w.Rows(), err)
	}
	return b.String(), w.Broken()
}

func TestFormats(t *testing.T) {
	texts := [][]byte{[]byte("a"), nil, {}, []byte("b, \"c\"\r\n\t\\"), []byte(" d"), []byte("\xed\xa0\x80!")}
	for f, want := range map[tabular.Format]string{
		tabular.CSV:   "id,\"na,me\"\n0,a\n1,\n2,\"\"\n3,\"b, \"\"c\"\"\r\n\t\\\"\n4,\" d\"\n5,\uFFFD!\n",
		tabular.TSV:   "id\tna,me\n0\ta\n1\t\n2\t\n3\tb, \"c\"\\r\\n\\t\\\\\n4\t d\n5\t\uFFFD!\n",
		tabular.JSONL: `{"id":0,"na,me":"a"}` + "\n" + `{"id":1,"na,me":null}` + "\n" + `{"id":2,"na,me":""}` + "\n" + `{"id":3,"na,me":"b, \"c\"\r\n\t\\"}` + "\n" + `{"id":4,"na,me":" d"}` + "\n" + `{"id":5,"na,me":"\ud800!"}` + "\n",
		tabular.JSON:  "[\n" + `{"id":0,"na,me":"a"},` + "\n" + `{"id":1,"na,me":null},` + "\n" + `{"id":2,"na,me":""},` + "\n" + `{"id":3,"na,me":"b, \"c\"\r\n\t\\"},` + "\n" + `{"id":4,"na,me":" d"},` + "\n" + `{"id":5,"na,me":"\ud800!"}` + "\n]\n",
	} {
		got, broken := write(t, f, texts...)
		if got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
		if (broken == 1) == f.IsJSON() {
			t.Errorf("%v: %d texts are broken", f, broken)
		}
		if parsed, ok := tabular.ParseFormat(f.String()); !ok || parsed != f {
			t.Errorf("%v is read as %v, %v", f, parsed, ok)
		}
	}
	if _, ok := tabular.ParseFormat("xls"); ok {
		t.Error("xls is a format")
	}
}

// TestEmpty checks tables without rows, and that a row of one column is no empty line.
func TestEmpty(t *testing.T) {
	for f, want := range map[tabular.Format]string{
		tabular.CSV: "id,\"na,me\"\n", tabular.TSV: "id\tna,me\n", tabular.JSONL: "", tabular.JSON: "[]\n",
	} {
		if got, _ := write(t, f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
	var b strings.Builder
	w := tabular.NewWriter(&b, tabular.CSV, []string{"id"})
	w.Absent()
	if err := errors.Join(w.EndRow(), w.End()); err != nil || b.String() != "id\n\"\"\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// TestFailure checks that an error stays.
func TestFailure(t *testing.T) {
	w := tabular.NewWriter(broken{}, tabular.CSV, []string{"id"})
	for range 2 {
		w.Text(bytes.Repeat([]byte("x"), 100_000))
		if err := w.EndRow(); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	}
	if err := w.End(); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// FuzzReadBack checks that the readers of the standard library read what was written.
func FuzzReadBack(f *testing.F) {
	for _, text := range []string{"", "a", `"`, `a"b`, ",", "\n", "\r\n", " a ", "\t", `\.`, "검 😀", "\xed\xa0\x80"} {
		f.Add(text, "x")
		f.Add("x", text)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?")
		text, _ := write(t, tabular.CSV, []byte(a), []byte(b))
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		// That reader makes one line break of CR LF.
		if one := strings.NewReplacer("\r\n", "\n"); err != nil || len(rows) != 3 || rows[1][1] != one.Replace(a) || rows[2][1] != one.Replace(b) {
			t.Errorf("CSV: %q gives %q, %v; want %q and %q", text, rows, err, a, b)
		}
		text, _ = write(t, tabular.TSV, []byte(a), []byte(b))
		if strings.Count(text, "\n") != 3 || strings.Count(text, "\t") != 3 {
			t.Errorf("TSV: %q", text)
		}
		text, _ = write(t, tabular.JSON, []byte(a), []byte(b))
		var list []map[string]any
		if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 2 || list[0]["na,me"] != a || list[1]["na,me"] != b {
			t.Errorf("JSON: %s gives %v, %v", text, list, err)
		}
	})
}
