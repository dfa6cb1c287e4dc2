# Edits the sheets of the working directory. TestEditing says what is where.

echo 7 > "$INT"
echo 0.125 > "$FLOAT"
sed -i 's/^/edited /' "$STR"
perl -pi -e 's/edited/edited twice/' "$STR"
vim -es -u NONE -i NONE -c 'set swapfile backup backupcopy=no' -c 's/$/ by vim/' -c wq "$STR2"
vim -es -u NONE -i NONE -c 'set nobackup writebackup backupcopy=yes' -c 's/$/, and again/' -c wq "$STR2"
rm -f "$STR2~"

# Out of the tree, and back into it.
rsync -a "$SYNCED/" "$TMP/out/"
find "$TMP/out" -type f -size -3 -name '[a-z]*' | sort | head -n 50 | while read -r f; do
  if grep -qx '[0-9]\{2,6\}' "$f"; then
    case " $KEYS " in *" ${f##*/} "*) continue ;; esac
    echo 77 > "$f"
  fi
done
rsync -a --checksum "$TMP/out/" "$SYNCED/"

# Whole sheets, and nodes.
cp -a "$COPIED" "$COPIED.1"
cp -a "$COPIED" "$COPIED.2"
rm -r "$REMOVED"
mkdir "$COPIED/Made"
echo 5 > "$COPIED/Made/number"
echo 'of its own' > "$COPIED/Made/words"
mkdir "$COPIED/Made/Deeper"
echo true > "$COPIED/Made/Deeper/flag"
cp -r "$COPIED/Made" "$TMP/made"
mv "$COPIED/Made" "$COPIED.1/Moved"
mv "$TMP/made" "$COPIED/Back"

# Attributes.
mv "$STR3" "${STR3%/*}/renamed"
echo 'a new one' > "${STR%/*}/added"
rm "${INT%/*}/$(ls "${INT%/*}" | grep -v "^${INT##*/}\$" | head -n 1)" 2>/dev/null || true

# Ten thousand of them, by a script that never looks at an error.
python3 - <<'PY'
import os
import re
keys = set(os.environ["KEYS"].split())
sheets = set(os.environ["SHEETS"].split())
left = 10000
for sheet in sorted(os.listdir(".")):
    if sheet.split(".")[0] not in sheets:
        continue
    for here, dirs, files in os.walk(sheet):
        dirs.sort()
        for name in sorted(files):
            path = os.path.join(here, name)
            if left == 0 or name in keys:
                continue
            with open(path, encoding="utf-8", newline="") as f:
                text = f.read()[:-1]
            if text.isdigit() and len(text) < 7 and str(int(text)) == text:
                text = str(int(text) + 1)
            elif re.search("[a-z가-힣]{3}", text) and text not in ("true", "false"):
                text += "!"
            else:
                continue
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(text + "\n")
            left -= 1
if left > 0:
    raise SystemExit("%d attributes are missing" % left)
PY
