// Asks for documents, and says numbers, times and reasons in words.
const known = new Map();

// Documents that stand in the page itself: one that was made by `m3 audit --html`.
const inside = new Map([...document.querySelectorAll("script[data-path]")].map((found) => [found.dataset.path, found]));
const isAlone = inside.size > 0;
const embedded = (path) => JSON.parse(inside.get(path)?.textContent ?? "null");
const pictures = embedded("pictures.json");

// The document at a path: JSON of the server, a file of the bundle, or a part of this page.
const get = async (path) => {
  if (isAlone) {
    if (!inside.has(path)) throw new Error("There is no such page: this file has one run and its tasks.");
    return embedded(path);
  }
  let response;
  try {
    response = await fetch(`data/${path}`, { cache: "no-store" });
  } catch {
    if (location.protocol === "file:") throw new Error("A browser does not let a page from the disk ask for files. Serve this folder, for example by `python3 -m http.server`.");
    throw new Error("m3 does not answer: it may have been ended. Start `m3 view` again.");
  }
  if (response.status === 404) throw new Error("There is no such page: what was there may have changed since.");
  if (!response.ok) throw new Error(`m3 answered with status ${response.status}.`);
  return response.json();
};

// Documents that are large and change rarely: kept until the library says that something has changed.
const kept = async (path) => {
  const [before, asked] = [known.get(path), revision];
  if (before && before.revision === asked) return before.document;
  const document = await get(path);
  known.set(path, { revision: asked, document });
  return document;
};

// What the library is at; it grows with every change.
let revision = 0;

// Addresses of pages: by the names of runs and tasks, so that they stay true while a run goes on.
const runLink = (name, query = "") => `#/run/${encodeURIComponent(name)}${query ? `?${query}` : ""}`;
const taskLink = (name, row, query = "", kind = "task") => `#/${kind}/${encodeURIComponent(name)}/${encodeURIComponent(row.id)}${row.repeat > 1 || row.is_replaced ? `/${row.repeat}` : ""}${row.is_replaced ? `/${row.copy ?? 1}` : ""}${query ? `?${query}` : ""}`;
const referencesLink = (name, query = "") => `#/references/${encodeURIComponent(name)}${query ? `?${query}` : ""}`;
const tasksLink = (id, runs = []) => `#/tasks/${encodeURIComponent(id)}${runs.length > 0 ? `?${new URLSearchParams(runs.map((name) => ["run", name]))}` : ""}`;
const compareLink = (first, second) => `#/compare/${encodeURIComponent(first)}/${encodeURIComponent(second)}`;

// The number of a run, or of references, in the documents.
const numberOf = async (name, among = "runs") => {
  const home = await kept("home.json");
  const number = home[among].findIndex((found) => found.name === name);
  if (number < 0) throw new Error(`There are no ${among} called ${name}.`);
  return number;
};

// The verdict, then the average, then the others in their order.
const FIRST = ["verdict", "average"];
// The metric that says most of those that there are: scores of earlier releases have no verdict.
const mainMetric = (names) => FIRST.find((name) => names.includes(name)) ?? names[0];
// The metric to compare runs of a matrix by: one that each of them has. `places` are their columns, all by default.
const mainOfRuns = (matrix, places = matrix.runs.map((_, place) => place)) => {
  const has = (values, place) => values.some((row) => typeof row[place] === "number");
  const shared = matrix.columns.filter((_, at) => places.every((place) => has(matrix.values[at], place)));
  return mainMetric((shared.length > 0 ? shared : matrix.columns).map((column) => column.name));
};
const mainFirst = (columns) => [...FIRST.flatMap((name) => columns.filter((column) => column.name === name)), ...columns.filter((column) => !FIRST.includes(column.name))];

// What another program wrote into a score may be anything.
// Digits as the commands print them: half of the last one goes to the even one.
const fixed = (value, digits = 3) => {
  if (typeof value !== "number") return "–";
  const [whole, parts] = value.toFixed(20).split(".");
  const [kept, rest] = [parts?.slice(0, digits), parts?.slice(digits)];
  return /^50*$/.test(rest) && Number(kept.at(-1)) % 2 === 0 ? `${whole}.${kept}` : value.toFixed(digits);
};
// A share, or a count of things.
const amount = (value) => (Number.isInteger(value) && value > 1 ? grouped(value) : fixed(value, 2));
const grouped = (value) => (value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en"));
const plural = (count, thing) => `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;
const percent = (part, whole) => (whole > 0 ? `${Math.round((100 * part) / whole)} %` : "–");
const time = (milliseconds) => {
  if (milliseconds === null || milliseconds === undefined) return "–";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const minutes = milliseconds / 60_000;
  return minutes < 60 ? `${minutes.toFixed(1)} min` : `${(minutes / 60).toFixed(1)} h`;
};
const place = (at) => `${at.step + 1}.${at.call + 1}`;
// An id, as far as people read it.
const named = (id) => (id === "" ? "(empty id)" : id.length > 200 ? `${id.slice(0, 200)}…` : id);
const words = (name) => String(name).replaceAll("_", " ");

// Why a call is unmatched.
const REASONS = {
  tool_not_in_prediction: "the prediction does not call this tool",
  tool_not_in_reference: "the reference does not call this tool",
  below_threshold: "no call of this tool is similar enough",
  assigned_elsewhere: "all similar calls are matched already",
  too_large: "the trajectory is too large to be aligned",
};
const FAILURES = {
  missing: "no prediction", provider: "the model could not be reached or gave nothing usable", server_lost: "an MCP server was lost",
  time: "out of time", limit: "a limit was used up", context: "the prompt did not fit", other: "failed", too_large: "too large to be aligned",
};

// A number with a bar, in [0, 1]. The number says the same.
const bar = (value, digits = 3) => [make("span", { class: "number" }, fixed(value, digits)),
  value === null || value === undefined ? null : draw("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "meter", "aria-hidden": "true" },
    draw("rect", { class: "bar-back", width: 100, height: 8 }), draw("rect", { class: "bar-fill", width: 100 * Math.min(Math.max(value, 0), 1), height: 8 }))];

// A class that shades a value in [0, 1].
const shade = (value) => (value === null || value === undefined ? "none" : `v${Math.round(Math.min(Math.max(value, 0), 1) * 10)}`);

// All metrics of a task as small bars.
const spark = (values, columns) => draw("svg", { class: "spark", viewBox: `0 0 ${columns.length * 7} 16`, width: columns.length * 7, height: 16, role: "img",
  "aria-label": columns.map((column, index) => `${column.label} ${fixed(values[index], 2)}`).join(", ") },
  columns.map((column, index) => [draw("rect", { class: "bar-back", x: index * 7, y: 0, width: 5, height: 16 }),
    draw("rect", { class: "bar-fill", x: index * 7, y: 16 - 16 * Math.min(values[index] ?? 0, 1), width: 5, height: 16 * Math.min(values[index] ?? 0, 1) })]));

const addressOf = (found, kind) => (isAlone ? pictures[found.name] : `data/${kind}/${found.name}.jpg`);

// A picture; in place of one that cannot be shown there is a single pixel.
const picture = (found, kind, attributes = {}) => {
  const note = () => make("span", { class: "note" }, kind === "thumbnail" && !found.problem ? "–" : ["not shown: ", make("code", {}, found.title), `: ${found.problem ?? "it is no image"}`]);
  if (found.problem) return note();
  const image = make("img", { src: addressOf(found, kind), alt: found.title, loading: "lazy", ...attributes });
  const missing = () => (image.closest("figure") ?? image).replaceWith(note());
  image.addEventListener("error", missing);
  image.addEventListener("load", () => { if (image.naturalWidth === 1 && image.naturalHeight === 1) missing(); });
  return image;
};

// A picture that opens in full, with what its file is called.
const figure = (found) => (found.problem ? make("p", {}, picture(found, "picture")) : make("figure", {},
  isAlone ? picture(found, "picture") : make("a", { href: addressOf(found, "picture"), target: "_blank", rel: "noreferrer", "aria-label": `${found.title}, alone` }, picture(found, "picture")),
  make("figcaption", {}, found.title)));

// The section of a page under a heading.
const section = (title, ...children) => make("section", {}, make("h3", {}, title), children);

// A table that may be wider than the page.
const wide = (label, table) => make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, table);

// A part that is made once the page is shown.
const afterwards = (work) => {
  const waiting = make("div");
  work().then((made) => waiting.replaceWith(...[made].flat().filter(Boolean)), (thrown) => { waiting.textContent = thrown.message; });
  return waiting;
};

// What the metrics mean.
const meanings = (columns) => make("details", {}, make("summary", {}, "What the metrics mean"), make("dl", { class: "facts" }, mainFirst(columns).filter((column) => column.meaning).map((column) => [make("dt", {}, column.label), make("dd", {}, column.meaning)])));

// A plain table: `head` are names, `rows` lists of cells; the first cell heads its row.
const table = (head, rows, attributes = {}) => make("table", attributes,
  make("thead", {}, make("tr", {}, head.map((name) => make("th", { scope: "col" }, name)))),
  make("tbody", {}, rows.map((cells) => make("tr", {}, cells.map((cell, index) => make(index === 0 ? "th" : "td", index === 0 ? { scope: "row" } : {}, cell))))));
