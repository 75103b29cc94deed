// The pages' tables, charts and sliders. Without it all is there to read.
"use strict";

const all = (selector, inside = document) => Array.from(inside.querySelectorAll(selector));

// Files outside the page are linked where the page stands in the folder that it was made in. If that
// has another name now, a figure that loads says that it is the folder; mailed alone, none does.
const home = document.documentElement.dataset.home;
const outside = all("a[data-href]");
const link = () => outside.forEach((one) => { one.href = one.dataset.href; });
if (home && decodeURIComponent(location.pathname).endsWith(`/${home}/index.html`)) {
  link();
} else if (home) {
  const figure = outside.find((one) => one.dataset.href.endsWith(".png"));
  const picture = new Image();
  picture.addEventListener("load", link);
  if (figure) picture.src = figure.dataset.href;
}

// A thumbnail shows the figure of its item.
for (const small of all(".small[data-of]")) {
  const figure = document.querySelector(`#${small.dataset.of} figure img`);
  const picture = new Image();
  picture.alt = "";
  picture.src = figure.src;
  small.append(picture);
}

// The address says what sliders and filters are set to, behind the anchor:
// #planner?planner-planner.epsilon=2. Only what is not as at first is in it, by value: another run
// may have other values.
let state;
const controls = []; // What takes its values from the state, one function for each.
const split = () => location.hash.slice(1).split("?");
function remember(name, value) {
  if (value === "") state.delete(name);
  else state.set(name, value);
  write();
}
function write() {
  const words = state.toString();
  history.replaceState(null, "", `#${split()[0]}${words && `?${words}`}`);
}
function unfold(target) {
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
}

// A link into what is folded opens it, and keeps the state unless it has one of its own.
function follow() {
  const [anchor, words] = split();
  if (state && words === undefined) {
    write();
  } else {
    state = new URLSearchParams(words);
    for (const restore of controls) restore();
  }
  const target = document.getElementById(decodeURIComponent(anchor));
  if (!target) return;
  unfold(target);
  target.scrollIntoView();
}
addEventListener("hashchange", follow);

// The rail says where one is.
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

// Headings are buttons; Tab stops at one of a table's, and arrow keys go to the others.
for (const table of all("table")) {
  const headings = table.tHead.rows[0];
  const buttons = Array.from(headings.cells, (heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.tabIndex = column ? -1 : 0;
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sort(table, heading, column));
    return button;
  });
  headings.addEventListener("focusin", ({ target }) => {
    for (const button of buttons) button.tabIndex = button === target ? 0 : -1;
  });
  headings.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(event.target);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    buttons[next]?.focus();
  });
}

// A box is a stop for Tab only if there is something to scroll in it; what is folded is none.
const fits = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const box = target.closest(".scroll");
    const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
});
for (const box of all(".scroll")) {
  fits.observe(box);
  fits.observe(box.firstElementChild);
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
  const name = filter.closest("[id]").id;
  const known = [...new Set(states.filter(Boolean))];
  let chosen = "";
  const chips = (known.length > 1 ? known : []).map((status) => {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", () => {
      chosen = chosen === status ? "" : status;
      remember(`${name}.status`, chosen);
      apply();
    });
    filter.querySelector(".chips").append(button);
    return [status, button];
  });
  function apply() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = texts.map((text) => words.every((word) => text.includes(word)));
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !(found[i] && (chosen === "" || states[i] === chosen));
      shown += !row.hidden;
    });
    for (const [status, button] of chips) {
      const count = states.filter((one, i) => one === status && found[i]).length;
      button.textContent = `${status} ${count}`;
      button.setAttribute("aria-pressed", String(status === chosen));
    }
    filter.querySelector("[role=status]").textContent = `${shown} of ${rows.length} rows`;
  }
  input.addEventListener("input", () => {
    remember(`${name}.words`, input.value.trim());
    apply();
  });
  controls.push(() => {
    const status = state.get(`${name}.status`) ?? "";
    chosen = known.includes(status) ? status : "";
    input.value = state.get(`${name}.words`) ?? "";
    if (chosen || input.value) unfold(filter);
    apply();
  });
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
  else plot.closest(".chart, .overview").querySelector(".below").prepend(words);
  return words;
}

// A chart says the values of the mark under the pointer, or of the next one by the arrow keys.
for (const plot of all(".plot > svg, .squares")) {
  const marks = all(".mark, a.square", plot);
  const words = spoken(plot);
  let at = -1;
  function say(next) {
    if (at >= 0) marks[at].classList.remove("on");
    at = next;
    marks[at].classList.add("on");
    words.textContent = marks[at].title || marks[at].querySelector("title").textContent;
  }
  plot.setAttribute("tabindex", "0");
  plot.setAttribute("aria-label", `${plot.getAttribute("aria-label")}; arrow keys say each value`);
  plot.addEventListener("pointerover", (event) => {
    const found = marks.indexOf(event.target.closest(".mark, a.square"));
    if (found >= 0) say(found);
  });
  plot.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && marks[at]?.href) marks[at].click();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !marks.length) return;
    event.preventDefault();
    say(at < 0 ? 0 : (at + step + marks.length) % marks.length);
  });
}

// A mark for every value of a slider, with the value below it.
function marks(slider, values) {
  const short = new Intl.NumberFormat("en", { notation: "compact" });
  const list = document.createElement("datalist");
  list.id = `${slider.name}-of-${slider.closest("[id]").id}`;
  list.setAttribute("aria-hidden", "true");
  values.forEach((value, i) => list.append(new Option(short.format(value), i)));
  slider.setAttribute("list", list.id);
  slider.after(list);
}

// A slider over the columns of a table ranks its rows by the chosen one; where there are two, the
// first chooses among the values in the second column.
for (const chooser of all(".chooser")) {
  const control = chooser.querySelector(".control");
  const sliders = all("input", control);
  const table = all("table", chooser).pop();
  const text = (cell) => cell.textContent;
  const value = (row, column) => Number(row.cells[column].dataset.sort ?? text(row.cells[column]));
  const headings = Array.from(table.tHead.rows[0].cells, text);
  const columns = headings.flatMap((heading, i) => (heading.includes("=") ? [i] : []));
  const kinds = sliders.length > 1 ? [...new Set(Array.from(table.tBodies[0].rows, (row) => text(row.cells[1])))] : [];
  const steps = columns.map((column) => headings[column].split("=")[1].trim());
  const values = kinds.length ? [kinds, steps] : [steps];
  const first = values.map((those, i) => (i ? those.length - 1 : Math.floor(those.length / 2)));
  const names = sliders.map((slider) => `${chooser.closest("[id]").id}.${slider.name}`);
  function rank() {
    const column = columns[sliders[sliders.length - 1].value];
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
  sliders.forEach((slider, i) => {
    slider.max = values[i].length - 1;
    marks(slider, values[i]);
    slider.addEventListener("input", () => {
      remember(names[i], Number(slider.value) === first[i] ? "" : values[i][slider.value]);
      rank();
    });
  });
  controls.push(() => {
    sliders.forEach((slider, i) => {
      const place = values[i].indexOf(state.get(names[i]));
      slider.value = place < 0 ? first[i] : place;
    });
    rank();
  });
  control.hidden = false;
}
follow();

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
