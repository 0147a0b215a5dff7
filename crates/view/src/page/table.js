// A table that is sorted by its heads, shows its first rows at once and the others as one comes to them.
const SHOWN = 100;

// Rows by the values of a column, `-name` for falling; those without a value come last.
const inOrder = (columns, rows, sorted) => {
  const falling = sorted.startsWith("-");
  const by = columns.find((column) => column.name === sorted.replace(/^-/, ""));
  const isNone = (value) => value === null || value === undefined;
  const order = (a, b) => {
    const [x, y] = [by.value(a), by.value(b)];
    if (isNone(x) || isNone(y)) return Number(isNone(x)) - Number(isNone(y));
    const compared = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return falling ? -compared : compared;
  };
  return by ? [...rows].sort(order) : rows;
};

// `columns` are {name, label, value(row), cell(row), isNumber}; `onsort(name)` is told by which the reader sorts. A table
// besides the page's own rows has a `key`.
const sortable = (label, columns, rows, sorted, onsort, key = "") => {
  const falling = sorted.startsWith("-");
  const by = columns.find((column) => column.name === sorted.replace(/^-/, ""));
  const ordered = inOrder(columns, rows, sorted);
  const head = columns.map((column) => {
    const state = by === column ? (falling ? "descending" : "ascending") : null;
    const next = by === column ? (falling ? column.name : `-${column.name}`) : column.isNumber ? `-${column.name}` : column.name;
    return make("th", { scope: "col", class: column.isNumber ? "amount" : null, "aria-sort": state },
      column.value ? make("button", { type: "button", class: "sort", "data-sort": `${key}${column.name}`, onclick: () => onsort(next) }, column.label,
        make("span", { "aria-hidden": "true" }, state === null ? "" : falling ? " ▼" : " ▲")) : column.label);
  });
  const body = make("tbody");
  const add = (count) => {
    const from = body.childElementCount;
    body.append(...ordered.slice(from, from + count).map((row) => make("tr", {},
      columns.map((column, index) => make(index === 0 ? "th" : "td", { scope: index === 0 ? "row" : null, class: column.isNumber ? "amount" : column.class }, column.cell(row))))));
    more.hidden = body.childElementCount >= ordered.length;
    more.textContent = `Show ${Math.min(SHOWN, ordered.length - body.childElementCount)} more of ${grouped(ordered.length)}`;
  };
  const more = make("button", { type: "button", class: "more", onclick: () => add(SHOWN) });
  add(SHOWN);
  new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting) && !more.hidden) add(SHOWN); }, { rootMargin: "600px" }).observe(more);
  const made = make("table", { class: "rows", "data-rows": key === "" }, make("caption", { class: "hidden" }, label), make("thead", {}, make("tr", {}, head)), body);
  return [wide(label, made), more];
};
