// The page works without this. It adds a filter of the rows that are there, and a key for the search.
"use strict";

const rows = Array.from(document.querySelectorAll("#entries tbody tr"));
const filter = document.getElementById("filter");
const count = document.getElementById("count");

function apply() {
  const wanted = filter.value.toLowerCase();
  let left = 0;
  for (const row of rows) {
    row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
    left += row.hidden ? 0 : 1;
  }
  count.textContent = wanted === "" ? "" : left + " of " + rows.length;
}

if (filter && rows.length > 1) {
  document.querySelector(".filter").hidden = false;
  filter.addEventListener("input", apply);
}

document.addEventListener("keydown", (event) => {
  const find = document.getElementById("find");
  if (event.key === "/" && find && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
    event.preventDefault();
    find.focus();
  }
});
