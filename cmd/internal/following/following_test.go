package following_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"lorefs/cmd/internal/following"
)

// moment is what a mount says at one time.
type moment struct {
	list  string
	saves following.Saves
}

// printed returns what is printed for some moments.
func printed(t *testing.T, asJSON bool, moments []moment) string {
	t.Helper()
	at, asked := -1, false
	s := following.Source{
		JSON: asJSON,
		State: func() (string, following.Saves, bool, error) {
			if at < 0 || !asked {
				at++
			}
			if asked = false; at == len(moments) {
				return "", following.Saves{}, false, nil
			}
			return moments[at].list + moments[at].saves.Last, moments[at].saves, true, nil
		},
		List: func(w io.Writer) error {
			asked = true // and State is asked once more at the same moment
			_, err := io.WriteString(w, moments[at].list)
			return err
		},
	}
	var out bytes.Buffer
	if err := s.Print(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestText(t *testing.T) {
	const was, five, six, added = "- /A/@x = int 1\n", "+ /A/@x = int 5\n", "+ /A/@x = int 6\n", "+ /B/ (2)\n"
	got := printed(t, false, []moment{
		{list: was + five}, {list: was + five}, {list: was + six + added}, {list: added}, {saves: following.Saves{Running: true}}, {list: was + five, saves: following.Saves{Last: "1", Edits: 1}},
	})
	const want = was + five + was + six + added + "undone /A/@x\n" + "saved 1 edit\n" + was + five
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestJSON(t *testing.T) {
	got := printed(t, true, []moment{
		{list: `{"schema_version":1,"kind":"node_added","path":"/A"}` + "\n" + `{"kind":"node_moved","path":"/B"}` + "\n"},
		{list: `{"schema_version":1,"kind":"node_moved","path":"/B"}` + "\n"},
		{list: "", saves: following.Saves{Last: "x", Edits: 3}},
	})
	const want = `{"schema_version":1,"kind":"node_added","path":"/A"}` + "\n" + `{"kind":"node_moved","path":"/B"}` + "\n" +
		`{"kind":"undone","path":"/A"}` + "\n" + `{"kind":"saved","edits":3}` + "\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestFailure(t *testing.T) {
	no := errors.New("no")
	s := following.Source{State: func() (string, following.Saves, bool, error) { return "", following.Saves{}, false, no }}
	if err := s.Print(t.Context(), io.Discard); !errors.Is(err, no) {
		t.Error(err)
	}
}
