// Tables of the page: headings that sort, a field that filters. Without it all is there to read.
"use strict";

function key(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.sort ?? cell.textContent.trim();
  const infinite = { "∞": Infinity, "−∞": -Infinity, inf: Infinity, "-inf": -Infinity }[text];
  const number = infinite ?? (text === "" ? NaN : Number(text));
  return { text, number };
}

// Numbers before text, both before nothing, whichever way the column is sorted.
function compare(a, b, sign) {
  if ((a.text === "") !== (b.text === "")) return a.text === "" ? 1 : -1;
  const [left, right] = [Number.isNaN(a.number), Number.isNaN(b.number)];
  if (left !== right) return left ? 1 : -1;
  if (!left) return a.number === b.number ? 0 : sign * (a.number < b.number ? -1 : 1);
  return sign * a.text.localeCompare(b.text, "en", { numeric: true });
}

function sort(table, heading, column) {
  const descending = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => [key(row, column), row]);
  rows.sort((a, b) => compare(a[0], b[0], descending ? -1 : 1));
  body.append(...rows.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table")) {
  Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sort(table, heading, column));
  });
}

for (const filter of document.querySelectorAll(".filter")) {
  const rows = Array.from(filter.nextElementSibling.querySelectorAll("tbody tr"));
  const texts = rows.map((row) => row.textContent.toLowerCase());
  filter.hidden = false;
  filter.querySelector("input").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
      shown += !row.hidden;
    });
    filter.querySelector("[role=status]").textContent = `${shown} of ${rows.length} rows`;
  });
}

// What is folded is printed, too.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
