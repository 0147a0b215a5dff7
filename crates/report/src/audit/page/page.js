// The page of `m3 audit --html`: the list, the filters, and the lines between the columns. Texts of others are
// in the document as text already; nothing here makes markup from strings.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const list = byId("list");
  const rows = [...list.querySelectorAll(".row")];
  const [search, sort, order, type, reason, finding, metric, from, to] =
    ["search", "sort", "order", "type", "reason", "finding", "metric", "from", "to"].map(byId);
  const [detail, overview, unknown, opened, main] = ["detail", "overview", "unknown", "opened", "main"].map(byId);
  const SVG = "http://www.w3.org/2000/svg";
  const title = document.title;
  let open = null;
  let routed = null;

  // What is searched, the words of the files and not the page's own: made when it is first needed, for the text
  // of all trajectories is long.
  const texts = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) {
      const parts = [row.dataset.id];
      for (const part of byId(row.dataset.template).content.querySelectorAll("[data-search]")) {
        parts.push(part.textContent);
      }
      texts.set(row, parts.join("\n").toLowerCase());
    }
    return texts.get(row);
  };

  const isShown = (row, words) => {
    const value = Number(row.dataset[metric.value]);
    return (!type.value || row.dataset.type === type.value)
      && (!reason.value || row.dataset.reasons.split("|").includes(reason.value))
      && (!finding.value || row.dataset.findings.split("|").includes(finding.value))
      && value >= Number(from.value || 0) - 5e-5 && value <= Number(to.value || 1) + 5e-5
      && words.every((word) => textOf(row).includes(word));
  };

  const shownRows = () => [...list.querySelectorAll("li:not([hidden]) .row")];

  const isText = () => sort.value === "id" || sort.value === "type";

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      row.parentElement.hidden = !isShown(row, words);
      count += row.parentElement.hidden ? 0 : 1;
    }
    const shown = isText() ? "average" : sort.selectedOptions[0].text;
    byId("count").textContent = `${count} of ${rows.length} trajectories, with their ${shown}`;
  };

  // Filters leave the order as it is: only a change of the order moves the rows.
  const arrange = () => {
    const key = sort.value;
    const direction = order.value === "worst" ? 1 : -1;
    // The worst has the highest cost, or the lowest metric.
    const compare = isText()
      ? (a, b) => a.dataset[key].localeCompare(b.dataset[key])
      : (a, b) => (key === "cost" ? -1 : 1) * (Number(a.dataset[key]) - Number(b.dataset[key]));
    // Stable: equal ones stay in the order of the file.
    const sorted = [...rows].sort((a, b) => direction * compare(a, b));
    for (const row of sorted) {
      const value = Number(row.dataset[isText() ? "average" : key]).toFixed(4);
      row.querySelector(".row-value").textContent = value === "-0.0000" ? "0.0000" : value;
    }
    list.append(...sorted.map((row) => row.parentElement));
    filter();
  };

  const element = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  // A label stands where no other stands: in the middle of its line, or else nearer to an end.
  const place = (at, taken) => {
    const candidates = [0.5, 0.35, 0.65, 0.22, 0.78].map(at);
    const isFree = ([x, y]) => taken.every(([a, b]) => Math.abs(a - x) > 30 || Math.abs(b - y) > 15);
    const chosen = candidates.find(isFree) || candidates[0];
    taken.push(chosen);
    return chosen;
  };

  const draw = (alignment) => {
    const svg = alignment.querySelector(".lines");
    svg.replaceChildren();
    const box = alignment.getBoundingClientRect();
    const [left, right] = alignment.querySelectorAll(".side");
    const partners = new Map([...right.querySelectorAll(".call")].map((call) => [call.dataset.index, call]));
    const labels = [];
    const taken = [];
    for (const call of left.querySelectorAll(".call[data-partner]")) {
      const partner = partners.get(call.dataset.partner);
      if (!partner) continue;
      const [a, b] = [call.getBoundingClientRect(), partner.getBoundingClientRect()];
      const [x1, x2] = [a.right - box.left, b.left - box.left];
      const [y1, y2] = [a.top + Math.min(a.height / 2, 24) - box.top, b.top + Math.min(b.height / 2, 24) - box.top];
      const similarity = Number(call.dataset.similarity);
      const bend = (x2 - x1) * 0.4;
      const kind = "inverted" in call.dataset ? "inverted" : "strong" in call.dataset ? "strong" : "weak";
      svg.append(element("path", {
        d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
        class: kind,
        "stroke-width": (1 + 6 * Math.max(0, similarity - 0.5)).toFixed(2),
        "data-pair": `${call.dataset.index}-${call.dataset.partner}`,
      }));
      // A point of the curve, t from 0 to 1.
      const at = (t) => {
        const u = 1 - t;
        const mix = (p, q, r, s) => u * u * u * p + 3 * u * u * t * q + 3 * u * t * t * r + t * t * t * s;
        return [mix(x1, x1 + bend, x2 - bend, x2), mix(y1, y1, y2, y2)];
      };
      const [x, y] = place(at, taken);
      const isRejected = "rejected" in call.dataset;
      const label = element("text", isRejected ? { x, y, class: "rejected" } : { x, y });
      label.textContent = isRejected ? `≠ ${call.dataset.similarity}` : call.dataset.similarity;
      const width = isRejected ? 46 : 32;
      labels.push(element("rect", { x: x - width / 2, y: y - 8, width, height: 16, rx: 3 }), label);
    }
    svg.append(...labels);
  };

  const drawAll = () => detail.querySelectorAll(".alignment").forEach(draw);
  const observer = new ResizeObserver(drawAll);

  // Shows clones of the templates of these rows.
  const show = (shown) => {
    observer.disconnect();
    detail.replaceChildren(...shown.map((row) => byId(row.dataset.template).content.cloneNode(true)));
    drawAll();
    detail.querySelectorAll(".alignment").forEach((alignment) => observer.observe(alignment));
  };

  const decoded = (fragment) => {
    try { return decodeURIComponent(fragment.slice(1)); } catch { return fragment.slice(1); }
  };

  // The row that the address names, nothing, or a text that names no row.
  const rowOfHash = () => {
    const named = (same) => rows.find((row) => same(row.getAttribute("href")));
    // As it stands first: the address of the empty id is that of another one, decoded.
    const id = decoded(location.hash);
    const found = named((address) => address === location.hash) || named((address) => decoded(address) === id);
    // "main" is where the link for skipping the list leads.
    return found || (id === "" || id === "main" ? null : id);
  };

  // Shows what the address names; with `isMove`, because the reader went there.
  const route = (isMove) => {
    routed = location.hash;
    const found = rowOfHash();
    const isUnknown = typeof found === "string";
    unknown.hidden = !isUnknown;
    if (isUnknown) unknown.textContent = `No trajectory ${found} is in this page.`;
    open = isUnknown ? null : found;
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    open?.setAttribute("aria-current", "true");
    overview.hidden = open !== null;
    detail.hidden = open === null;
    show(open ? [open] : []);
    document.title = open ? `${open.dataset.id} · ${title}` : title;
    open?.scrollIntoView({ block: "nearest" });
    // On a narrow screen the list stands above what was opened.
    if (open && (isMove || isNarrow())) main.scrollIntoView({ block: "start" });
    else if (isMove) window.scrollTo(0, 0);
    opened.textContent = open && isMove ? `Opened: trajectory ${open.dataset.id}` : "";
  };

  // Reading goes on where something was opened.
  const focusOpened = () => detail.querySelector("h2")?.focus({ preventScroll: true });
  const isNarrow = () => matchMedia("(max-width: 860px)").matches;

  // At once: the event comes later, and the next key may come before it. The focus stays in the list, where
  // the arrow keys go on; what was opened is announced.
  const go = (fragment) => {
    const isNew = routed !== fragment;
    location.hash = fragment;
    if (isNew) route(true);
  };

  const step = (by) => {
    const shown = shownRows();
    if (shown.length === 0) return;
    const at = shown.indexOf(open);
    const next = at < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(at + by, 0), shown.length - 1);
    shown[next].focus({ preventScroll: true });
    go(shown[next].getAttribute("href"));
  };

  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest("input, select, textarea");
    const inList = event.target.closest("#list") !== null;
    if (event.key === "Escape") {
      if (field) field.blur();
      else go("");
    } else if (field) {
      if (field === search && event.key === "Enter") step(1);
      return;
    } else if (event.key === "/") search.focus();
    else if (event.key === "j" || (inList && event.key === "ArrowDown")) step(1);
    else if (event.key === "k" || (inList && event.key === "ArrowUp")) step(-1);
    else return;
    event.preventDefault();
  };

  const printAll = () => {
    show(shownRows());
    detail.hidden = false;
    overview.hidden = false;
    window.print();
  };

  // On paper the columns have a width of their own, so that lines drawn now fit there too.
  let unfolded = [];
  const beforePrint = () => {
    detail.classList.add("printing");
    unfolded = [...main.querySelectorAll("details:not([open])")];
    for (const folded of unfolded) folded.open = true;
    drawAll();
  };
  const afterPrint = () => {
    detail.classList.remove("printing");
    for (const folded of unfolded) folded.open = false;
    unfolded = [];
    route(false);
  };

  for (const control of [sort, order]) control.addEventListener("input", arrange);
  for (const control of [search, type, reason, finding, metric, from, to]) control.addEventListener("input", filter);
  byId("print").addEventListener("click", printAll);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", () => {
    if (routed === location.hash) return;
    route(true);
    focusOpened();
  });
  // A link to what is open already changes no address.
  list.addEventListener("click", (event) => {
    if (event.target.closest(".row") === open) focusOpened();
  });
  window.addEventListener("beforeprint", beforePrint);
  window.addEventListener("afterprint", afterPrint);
  if (isNarrow()) document.querySelector(".filters").open = false;
  arrange();
  route(false);
  document.documentElement.dataset.ready = "true";
})();
