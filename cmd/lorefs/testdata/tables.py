"""Holds tables of a data center, read by Python's csv and by sqlite3, against its sheets, read by
Python's reader of XML.

  tables.py SHEETS TABLES    folders of lorefs export, and of lorefs export --format csv
"""
import csv
import os
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

csv.field_size_limit(1 << 30)
EXTRA = "{urn:lorefs:dc}"  # what XML itself can't hold
OURS = ("_row", "_parent", "_sheet")


def open_table(path):
    return open(path, encoding="utf-8", newline="")


class Tables:
    """The tables of one name of sheets, each read once from beginning to end."""

    def __init__(self, folder):
        self.folder, self.open, self.rows, self.values = folder, {}, {}, 0

    def next(self, path):
        if path not in self.open:
            file = open_table(os.path.join(self.folder, path + ".csv"))
            rows = csv.reader(file)
            head = next(rows)
            self.open[path] = (file, rows, head)
            self.rows[path] = 0
        _, rows, head = self.open[path]
        row = dict(zip(head, next(rows)))
        assert len(row) == len(head), (path, head)
        assert row["_row"] == str(self.rows[path]), (path, row)
        self.rows[path] += 1
        return row

    def node(self, node, above, parent, sheet):
        name = node.tag.rpartition("}")[2]
        path = above + "/" + name if above else name
        row = self.next(path)
        want = {k: v for k, v in node.attrib.items() if not k.startswith("{")}
        text = node.attrib.get(EXTRA + "value", node.text if len(node) == 0 else None)
        if text is not None and (len(node) == 0 or EXTRA + "value" in node.attrib):
            want["__value__"] = text
        # Empty and absent are the same to Python's csv.
        got = {k: v for k, v in row.items() if v != "" and (k == "__value__" or not k.startswith("_"))}
        assert got == {k: v for k, v in want.items() if v != ""}, (path, row, node.attrib, text)
        self.values += len(want)
        number = row["_row"]
        if above:
            assert (row["_parent"], row["_sheet"]) == (parent, sheet), (path, row, parent, sheet)
        for kid in node:
            self.node(kid, path, number, sheet if above else number)

    def end(self):
        for path, (file, rows, _) in self.open.items():
            assert next(rows, None) is None, path + " has more rows than the sheets have nodes"
            file.close()


def against_sheets(sheets, folder):
    rows, values, seen = 0, 0, set()
    for name in sorted(os.listdir(sheets)):
        if not os.path.isdir(os.path.join(sheets, name)):
            continue
        tables = Tables(folder)
        for file in sorted(f for f in os.listdir(os.path.join(sheets, name)) if f.endswith(".xml")):
            tables.node(xml.parse(os.path.join(sheets, name, file)).getroot(), "", "", "")
        tables.end()
        rows, values = rows + sum(tables.rows.values()), values + tables.values
        seen |= set(tables.rows)
    files = {os.path.relpath(os.path.join(at, f), folder)[:-4] for at, _, fs in os.walk(folder) for f in fs}
    assert seen == files, seen ^ files
    print("csv: %d tables, %d rows and %d values are those of the sheets" % (len(files), rows, values))


def against_sqlite(folder):
    """sqlite3 imports each table, and has what Python's csv reads."""
    rows, cells, tables = 0, 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        for at, _, files in os.walk(folder):
            for file in files:
                path = os.path.join(at, file)
                base = os.path.join(temporary, "one.db")
                subprocess.run(["sqlite3", base, '.import --csv "%s" one' % path], check=True)
                with open_table(path) as f:
                    reader = csv.reader(f)
                    next(reader)
                    base_rows = sqlite3.connect(base).execute("select * from one order by rowid")
                    for want in reader:
                        got = next(base_rows)
                        assert list(got) == want, (path, got, want)
                        rows, cells = rows + 1, cells + len(want)
                    assert next(base_rows, None) is None, path
                os.remove(base)
                tables += 1
    print("sqlite3: %d tables, %d rows and %d cells are those of Python's csv" % (tables, rows, cells))


against_sheets(*sys.argv[1:3])
against_sqlite(sys.argv[2])
