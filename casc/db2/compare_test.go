package db2_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lorefs/casc/db2"
	"lorefs/casc/db2/db2test"
)

// flat returns the values of each row by their names in CSV, from what the reference wrote as JSON. What
// is no array is the first value of one.
func flat(t *testing.T, view *db2.View, text []byte) map[int32]map[string]string {
	t.Helper()
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil || len(list) != view.Len() {
		t.Fatalf("%d rows, want %d, %v", len(list), view.Len(), err)
	}
	rows := map[int32]map[string]string{}
	for i, row := range list {
		values := map[string]string{}
		for name, v := range row {
			var array []json.RawMessage
			if json.Unmarshal(v, &array) != nil {
				values[name+"[0]"] = string(v)
			}
			for k, one := range array {
				values[fmt.Sprintf("%s[%d]", name, k)] = string(one)
			}
		}
		rows[view.ID(i)] = values
	}
	return rows
}

// byName sorts names with those first that are no array.
func byName(a, b string) int {
	return strings.Compare(strings.TrimSuffix(a, "[0]"), strings.TrimSuffix(b, "[0]"))
}

// TestCompare compares each table with some others, and holds what differs against the JSON of the
// reference.
func TestCompare(t *testing.T) {
	list, dir := fixtures(t)
	views := make([]*db2.View, len(list))
	rows := make([]map[int32]map[string]string, len(list))
	for i := range list {
		views[i] = list[i].open(t, dir)
		rows[i] = flat(t, views[i], readFile(t, dir, list[i].JSON))
	}
	const some = 7
	compared := 0
	for i, old := range rows {
		for k := i % some; k < len(rows); k += some {
			now := rows[k]
			if len(old) != views[i].Len() || len(now) != views[k].Len() {
				continue // some have several rows of an ID
			}
			want, got := map[int32]string{}, map[int32]string{}
			for id, row := range old {
				if now[id] == nil && !views[k].Hides(id) {
					want[id] = "removed"
				}
				for _, name := range slices.SortedFunc(maps.Keys(row), byName) {
					if is, both := now[id][name]; both && is != row[name] {
						want[id] += name + row[name] + is + "\n"
					}
				}
			}
			for id := range now {
				if old[id] == nil && !views[i].Hides(id) {
					want[id] = "added"
				}
			}
			for row, err := range db2.Compare(views[i], views[k]).Rows() {
				if err != nil {
					t.Fatal(err)
				}
				slices.SortFunc(row.Values, func(a, b db2.ValueChange) int { return byName(a.Name, b.Name) })
				for _, v := range row.Values {
					name := v.Name
					if !strings.HasSuffix(name, "]") {
						name += "[0]"
					}
					got[row.ID] += fmt.Sprintf("%s%s%s\n", name, v.Old, v.New)
				}
				switch {
				case row.Old < 0:
					got[row.ID] = "added"
				case row.New < 0:
					got[row.ID] = "removed"
				}
			}
			compared++
			if !maps.Equal(got, want) {
				t.Errorf("%s and %s: got\n%v, want\n%v", list[i].File, list[k].File, got, want)
			}
		}
	}
	t.Logf("%d pairs", compared)
}

// TestOnly names the columns that only one of two tables has.
func TestOnly(t *testing.T) {
	list, dir := fixtures(t)
	at := func(name string) *db2.View {
		i := slices.IndexFunc(list, func(f fixture) bool { return f.CSV == name })
		return list[i].open(t, dir)
	}
	c := db2.Compare(at("WDBC/LorefsPlain.csv"), at("WDC5/LorefsInline.csv"))
	if got, want := fmt.Sprint(c.Only), "[[Code Big Ubig Rate Pair Xyz B8 B8s H16 H16u Flag] [Label Weight U16 BpS16 CmU32 PlS16 ParentID]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestHidden leaves out rows that are only hidden on one side.
func TestHidden(t *testing.T) {
	table := db2test.Table{Sections: []db2test.Section{
		{Rows: []db2test.Row{{ID: 3, Values: []any{1}}}},
		{Key: 9, Rows: []db2test.Row{{ID: 5, Values: []any{5}}}},
	}}
	view := func(hide bool) *db2.View {
		data, parts := table.Bytes()
		if hide {
			clear(data[parts[1].Off:])
		}
		parsed, err := db2.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		v, err := parsed.View(db2.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, sides := range [][2]bool{{false, true}, {true, false}, {true, true}} {
		for row, err := range db2.Compare(view(sides[0]), view(sides[1])).Rows() {
			t.Errorf("%v: %+v, %v", sides, row, err)
		}
	}
	old := view(false)
	table.Sections = table.Sections[:1]
	n := 0
	for row, err := range db2.Compare(old, view(false)).Rows() {
		if n++; err != nil || row.ID != 5 || row.Old != 1 || row.New != -1 {
			t.Errorf("%+v, %v", row, err)
		}
	}
	if n != 1 {
		t.Errorf("%d rows differ, want 1", n)
	}
}
