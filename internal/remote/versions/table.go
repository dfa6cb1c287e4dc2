package versions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxText bounds what a service answers, in bytes.
const maxText = 16 << 20

// table is the rows of a table, each by the names of the columns.
type table []map[string]string

// parseTable reads a table that must have certain columns.
func parseTable(data []byte, need ...string) (table, error) {
	if len(data) > maxText {
		return nil, fmt.Errorf("%d bytes are no table", len(data))
	}
	var columns []string
	var rows table
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "##"):
		case columns == nil:
			columns = columnsOf(line)
			for _, name := range need {
				if !slices.Contains(columns, name) {
					return nil, fmt.Errorf("no column %s in %.80q", name, line)
				}
			}
		default:
			row := map[string]string{}
			for i, cell := range strings.Split(line, "|") {
				if i < len(columns) {
					row[columns[i]] = cell
				}
			}
			rows = append(rows, row)
		}
	}
	if columns == nil {
		return nil, errors.New("an empty table")
	}
	return rows, nil
}

func columnsOf(line string) (columns []string) {
	for text := range strings.SplitSeq(strings.TrimPrefix(line, "\ufeff"), "|") {
		name, _, _ := strings.Cut(text, "!")
		columns = append(columns, name)
	}
	return columns
}
