// The tasks as they were listed last: so one goes on from one to the next.
let listedTasks = [];

// Tasks by runs, coloured by a metric.
const matrixView = async (parameters) => {
  const matrix = await kept("matrix.json");
  const metric = parameters.get("metric") ?? mainOfRuns(matrix);
  const column = Math.max(0, matrix.columns.findIndex((found) => found.name === metric));
  const type = parameters.get("type") ?? "";
  const [order, text] = [parameters.get("order") ?? "hard", (parameters.get("q") ?? "").toLowerCase()];
  const set = (name, value) => go("matrix", { metric, type, order, q: parameters.get("q") ?? "", [name]: value });
  const parts = [make("h2", { tabindex: -1 }, "Tasks × runs")];
  if (matrix.runs.length === 0) return { title: "Tasks × runs", parts: [...parts, make("p", {}, "There are no scores yet.")] };
  const rows = matrix.tasks.map((task, index) => {
    const values = matrix.values[column][index];
    const there = values.filter((value) => value !== null);
    return { task, values, rows: matrix.rows[index], mean: there.length > 0 ? there.reduce((sum, value) => sum + value, 0) / there.length : null, spread: there.length > 0 ? Math.max(...there) - Math.min(...there) : null };
  }).filter((row) => (type === "" || row.task.type === type) && (text === "" || [row.task.id, row.task.question].some((part) => part?.toLowerCase().includes(text))));
  const last = (value) => (value === null ? Infinity : value);
  const orders = { hard: ["hardest first", (a, b) => last(a.mean) - last(b.mean)], easy: ["easiest first", (a, b) => last(-a.mean) - last(-b.mean)], spread: ["runs differ most", (a, b) => b.spread - a.spread], id: ["id", (a, b) => a.task.id.localeCompare(b.task.id, "en", { numeric: true })] };
  rows.sort((orders[order] ?? orders.hard)[1]);
  listedTasks = rows.map((row) => row.task.id);
  // Values beyond [0, 1], such as percents or counts, are shaded by the largest.
  const most = Math.max(1, ...rows.flatMap((row) => row.values).filter((value) => value !== null));
  const types = [...new Set(matrix.tasks.map((task) => task.type).filter(Boolean))].sort();
  const option = (value, label, chosen) => make("option", { value, selected: value === chosen }, label);
  const search = make("input", { type: "search", "data-filter": "q", placeholder: "id, question", value: parameters.get("q") ?? "", oninput: later((event) => set("q", event.target.value)) });
  parts.push(make("div", { class: "controls", role: "search" }, make("label", {}, "search ", search),
    make("label", {}, "metric", make("select", { "data-filter": "metric", onchange: (event) => set("metric", event.target.value) }, mainFirst(matrix.columns).map((found) => option(found.name, found.label, metric)))),
    types.length > 1 ? make("label", {}, "type", make("select", { "data-filter": "type", onchange: (event) => set("type", event.target.value) }, option("", "all", type), types.map((name) => option(name, name, type)))) : null,
    make("label", {}, "order", make("select", { "data-filter": "order", onchange: (event) => set("order", event.target.value) }, Object.entries(orders).map(([name, [label]]) => option(name, label, order))))),
  make("p", { class: "count", role: "status" }, `${grouped(rows.length)} of ${plural(matrix.tasks.length, "task")}. Red: low. No colour: middle. Blue: high.`));
  const body = make("tbody");
  const line = (row) => make("tr", {}, make("th", { scope: "row" }, make("a", { href: tasksLink(row.task.id), title: row.task.question }, named(row.task.id)), row.task.type ? make("small", {}, ` ${row.task.type}`) : null),
    make("td", { class: `amount ${shade(row.mean === null ? null : row.mean / most)}` }, fixed(row.mean, 2)),
    row.values.map((value, at) => make("td", { class: `amount ${shade(value === null ? null : value / most)}` }, row.rows[at] === null ? "" : make("a", { href: taskLink(matrix.runs[at][1], row.task), "aria-label": `${row.task.id} in ${matrix.runs[at][1]}: ${fixed(value, 2)}` }, fixed(value, 2)))));
  const add = () => {
    const from = body.childElementCount;
    body.append(...rows.slice(from, from + SHOWN).map(line));
    more.hidden = body.childElementCount >= rows.length;
  };
  const more = make("button", { type: "button", class: "more", onclick: add }, "Show more");
  add();
  new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting) && !more.hidden) add(); }, { rootMargin: "600px" }).observe(more);
  parts.push(wide("Tasks by runs", make("table", { class: "heat", "data-rows": true }, make("caption", { class: "hidden" }, `${matrix.columns[column].label} of each task in each run`),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "task"), make("th", { scope: "col", class: "amount" }, "mean"),
    matrix.runs.map(([, name]) => make("th", { scope: "col", class: "amount" }, make("a", { href: runLink(name) }, name))))), body)), more);
  return { title: "Tasks × runs", parts, search, up: "#/" };
};
