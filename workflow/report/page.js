// The pages' tables, charts and sliders. Without it all is there to read.
"use strict";

const all = (selector, inside = document) => Array.from(inside.querySelectorAll(selector));

// Files outside the page are linked where the page stands in the folder that it was made in.
const home = document.documentElement.dataset.home;
if (home && decodeURIComponent(location.pathname).endsWith(`/${home}/index.html`)) {
  for (const link of all("a[data-href]")) link.href = link.dataset.href;
}

// A link into what is folded opens it; the rail says where one is.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
if (location.hash) reveal();

const railed = all(".rail a").map((link) => [link, document.getElementById(link.hash.slice(1))]);
function mark() {
  let current = null;
  for (const [link, chapter] of railed) {
    if (chapter && chapter.getBoundingClientRect().top < innerHeight / 3) current = link;
    link.removeAttribute("aria-current");
  }
  if (current) current.setAttribute("aria-current", "true");
}
if (railed.length) addEventListener("scroll", mark, { passive: true });

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

for (const table of all("table")) {
  Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sort(table, heading, column));
  });
}

// A field and a button for every status hide rows; a note below the table counts as its row's.
for (const filter of all(".filter")) {
  const table = filter.parentElement;
  const rows = all("tbody tr", table);
  const notes = all(".notes li", table).map((note) => note.textContent);
  const texts = rows.map((row) => {
    const noted = all("[data-note]", row).map((cell) => notes[cell.dataset.note - 1]);
    return [row.textContent, ...noted].join(" ").toLowerCase();
  });
  const states = rows.map((row) => row.querySelector("td > .status")?.lastChild.textContent.trim());
  const input = filter.querySelector("input");
  let chosen = null;
  function apply() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      const wanted = chosen === null || states[i] === chosen;
      row.hidden = !(wanted && words.every((word) => texts[i].includes(word)));
      shown += !row.hidden;
    });
    filter.querySelector("[role=status]").textContent = `${shown} of ${rows.length} rows`;
  }
  const known = [...new Set(states.filter(Boolean))];
  for (const state of known.length > 1 ? known : []) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = state;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      chosen = chosen === state ? null : state;
      for (const other of all(".chips button", filter)) {
        other.setAttribute("aria-pressed", String(other.textContent === chosen));
      }
      apply();
    });
    filter.querySelector(".chips").append(button);
  }
  input.addEventListener("input", apply);
  filter.hidden = false;
}

// Charts that stand together have one place for what they say.
function spoken(plot) {
  const group = plot.closest(".charts");
  const known = group?.nextElementSibling;
  if (known?.classList.contains("said-here")) return known;
  const words = document.createElement("p");
  words.className = "said-here";
  words.setAttribute("role", "status");
  if (group) group.after(words);
  else plot.closest(".chart").querySelector(".below").prepend(words);
  return words;
}

// A chart says the values of the mark under the pointer, or of the next one by the arrow keys.
for (const plot of all(".plot > svg")) {
  const marks = all(".mark", plot);
  const words = spoken(plot);
  let at = -1;
  function say(next) {
    if (at >= 0) marks[at].classList.remove("on");
    at = next;
    marks[at].classList.add("on");
    words.textContent = marks[at].querySelector("title").textContent;
  }
  plot.setAttribute("tabindex", "0");
  plot.setAttribute("aria-label", `${plot.getAttribute("aria-label")}; arrow keys say each value`);
  plot.addEventListener("pointerover", (event) => {
    const found = marks.indexOf(event.target.closest(".mark"));
    if (found >= 0) say(found);
  });
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !marks.length) return;
    event.preventDefault();
    say(at < 0 ? 0 : (at + step + marks.length) % marks.length);
  });
}

// A slider over the columns of a table ranks its rows by the chosen one; where there are two, the
// first chooses among the values in the second column.
for (const chooser of all(".chooser")) {
  const control = chooser.querySelector(".control");
  const sliders = all("input", control);
  const slider = sliders[sliders.length - 1];
  const table = all("table", chooser).pop();
  const text = (cell) => cell.textContent;
  const value = (row, column) => Number(row.cells[column].dataset.sort ?? text(row.cells[column]));
  const headings = Array.from(table.tHead.rows[0].cells, text);
  const columns = headings.flatMap((heading, i) => (heading.includes("=") ? [i] : []));
  const kinds = sliders.length > 1 ? [...new Set(Array.from(table.tBodies[0].rows, (row) => text(row.cells[1])))] : [];
  slider.max = columns.length - 1;
  slider.value = sliders.length > 1 ? columns.length - 1 : Math.floor(columns.length / 2);
  if (kinds.length) {
    sliders[0].max = kinds.length - 1;
    sliders[0].value = Math.floor(kinds.length / 2);
  }
  function rank() {
    const column = columns[slider.value];
    const kind = kinds[sliders[0].value];
    const rows = Array.from(table.tBodies[0].rows).filter(
      (row) => text(row.cells[column]) && (!kinds.length || text(row.cells[1]) === kind),
    );
    rows.sort((a, b) => value(b, column) - value(a, column));
    const best = rows.length ? value(rows[0], column) : 1;
    const chosen = kinds.length ? [`${headings[1]}\u00a0=\u00a0${kind}`, headings[column]] : [headings[column]];
    const told = rows.length
      ? `${chosen.join(", ")}: ${text(rows[0].cells[0])}, ${text(rows[0].cells[column])} ${control.dataset.unit}`
      : chosen.join(", ");
    control.querySelector("output").textContent = told;
    for (const one of sliders) one.setAttribute("aria-valuetext", told);
    control.querySelector(".ranking").replaceChildren(...rows.map((row) => {
      const item = document.createElement("li");
      for (const name of ["name", "share", "value"]) {
        const part = document.createElement("span");
        part.className = name;
        item.append(part);
      }
      item.children[0].textContent = text(row.cells[0]);
      item.children[1].style.width = `${(100 * value(row, column)) / best}%`;
      item.children[2].textContent = text(row.cells[column]);
      return item;
    }));
    for (const heading of all("thead th", chooser)) {
      heading.classList.toggle("chosen", chosen.includes(text(heading)));
    }
  }
  for (const one of sliders) one.addEventListener("input", rank);
  control.hidden = false;
  rank();
}

// What is folded is printed, too, but not tables that are too long or too wide for paper.
addEventListener("beforeprint", () => {
  for (const details of all("details:not([open])")) {
    const large = all("table", details).some(
      (table) => table.tBodies[0].rows.length > 40 || table.tHead.rows[0].cells.length > 16,
    );
    if (!large) details.open = details.dataset.printed = true;
  }
});
addEventListener("afterprint", () => {
  for (const details of all("details[data-printed]")) details.open = false;
});
