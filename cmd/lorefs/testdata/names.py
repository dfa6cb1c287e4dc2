"""Holds the names that lorefs query --names gives items, 200 drawn at random and all, against the sheets, read by Python's reader of XML.

  names.py SHEETS LINES    a folder of lorefs export, and the output of lorefs query --names --json '/ItemData/Item'
"""
import glob
import json
import os
import random
import sys
import xml.etree.ElementTree as xml


def children(folder, kind, tag):
    for path in sorted(glob.glob(os.path.join(folder, kind, kind + "-*.xml"))):
        for node in xml.parse(path).getroot():
            if node.tag.split("}")[-1] == tag:
                yield node.attrib


sheets, lines = sys.argv[1:]
texts = {}
for string in children(sheets, "StrSheet_Item", "String"):
    texts.setdefault(int(string["id"]), set()).add(string.get("string", ""))
want = {}
for item in children(sheets, "ItemData", "Item"):
    number = int(item["id"])
    of = texts.get(number, {""})
    want[number] = min(of) if len(of) == 1 else ""  # of two texts neither is right
got = {}
for line in open(lines, encoding="utf-8"):
    item = json.loads(line)
    got[item["attributes"]["id"]] = item.get("label", "")
named = sorted(number for number, text in want.items() if text)
for number in random.Random(36).sample(named, 200):
    assert got[number] == want[number], (number, got[number], want[number])
assert got == want, "others than the 200 differ"
print("200 items have the names that they should have, and so have all %d of %d" % (len(named), len(want)))
