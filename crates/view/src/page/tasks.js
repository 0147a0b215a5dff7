// The tasks of a run or of references as a table, with filters and an order that stand in the address.

// What the reader asked for: by these, tasks are listed and followed.
const FILTERS = ["q", "type", "outcome", "tool", "reason", "finding", "metric", "from", "to", "sort"];

// The words of a task, as its files have them; in a page with everything inside, those of calls, answers and results too.
const texts = new Map();
const textOf = (run, row) => {
  if (!texts.has(row)) {
    const words = [row.id, row.type, row.question, ...row.tools];
    const of = isAlone ? embedded(`task/0/${run.rows.indexOf(row)}.json`) : {};
    for (const side of [of.prediction, of.reference].filter(Boolean)) {
      const calls = side.steps.flat();
      words.push(side.answer, ...calls.flatMap((call) => [call.tool, ...(call.arguments ?? []).flat(), call.result?.text]));
    }
    texts.set(row, [...words, of.question].filter(Boolean).join("\n").toLowerCase());
  }
  return texts.get(row);
};

const outcomeOf = (row) => row.failure ?? (row.calls === 0 ? "no_calls" : null) ?? row.finish ?? (row.passes === true ? "passed" : row.passes === false ? "not passed" : null);

const filtered = (run, parameters) => {
  const of = (name) => parameters.get(name) ?? "";
  const searched = of("q").toLowerCase().split(/\s+/).filter(Boolean);
  const column = run.columns.findIndex((found) => found.name === (of("metric") || "average"));
  const [from, to] = [of("from") === "" ? -Infinity : Number(of("from")), of("to") === "" ? Infinity : Number(of("to"))];
  return run.rows.filter((row) => searched.every((word) => textOf(run, row).includes(word))
    && (of("reason") === "" || row.reasons?.includes(of("reason"))) && (of("finding") === "" || row.findings?.includes(of("finding")))
    && (of("type") === "" || row.type === of("type"))
    && (of("outcome") === "" || outcomeOf(row) === of("outcome"))
    && (of("tool") === "" || row.tools.includes(of("tool")))
    && (from === -Infinity && to === Infinity || (row.values?.[column] !== null && row.values?.[column] !== undefined && row.values[column] >= from && row.values[column] <= to)));
};

const choices = (run, of) => [...new Set(run.rows.flatMap(of).filter((value) => value !== null && value !== undefined))].sort();

const taskColumns = (run, parameters, link) => {
  const at = (name) => run.columns.findIndex((column) => column.name === name);
  const value = (name) => (row) => row.values?.[at(name)];
  const own = run.columns.filter((column) => !column.name.includes("."));
  const has = (of) => run.rows.some(of);
  const [metric, sorted] = ["metric", "sort"].map((key) => (parameters.get(key) ?? "").replace(/^-/, ""));
  const asked = run.columns.filter((column) => !FIRST.includes(column.name) && [metric, sorted].includes(column.name));
  const numbers = (name, label, of, cell) => ({ name, label, isNumber: true, value: of, cell });
  return [
    { name: "id", label: "task", value: (row) => row.id, cell: (row) => [make("a", { href: link(row) }, named(row.id)), row.repeat > 1 ? ` repetition ${row.repeat}` : null,
      row.is_replaced ? make("small", {}, " replaced by a later one") : null] },
    ...(has((row) => row.picture) ? [{ label: "image", cell: (row) => (row.picture ? picture({ name: row.picture, title: `image of ${row.id}` }, "thumbnail", { class: "thumbnail" }) : null) }] : []),
    { name: "type", label: "type", value: (row) => row.type, cell: (row) => row.type ?? "–" },
    { name: "question", label: "question", value: (row) => row.question, class: "question", cell: (row) => make("span", { class: "clipped", dir: "auto" }, row.question ?? "") },
    ...(has(outcomeOf) ? [{ name: "outcome", label: "outcome", value: outcomeOf, cell: (row) => make("span", { class: row.failure ? "bad" : null }, words(outcomeOf(row) ?? "–")) }] : []),
    numbers("calls", "calls", (row) => row.calls, (row) => [grouped(row.calls), row.failed_calls > 0 ? make("span", { class: "bad" }, ` ${grouped(row.failed_calls)} failed`) : null]),
    ...(has((row) => row.cost !== undefined) ? [numbers("cost", "costs", (row) => row.cost, (row) => fixed(row.cost, 4))] : []),
    ...(at("verdict") >= 0 ? [numbers("verdict", "verdict", value("verdict"), (row) => fixed(value("verdict")(row), 2))] : []),
    ...(run.score ? [numbers("average", "average", value("average"), (row) => bar(value("average")(row))), { label: "metrics", cell: (row) => (row.values ? spark(row.values, own) : "–") },
      ...asked.map((column) => numbers(column.name, column.label, value(column.name), (row) => fixed(value(column.name)(row))))] : []),
    ...choices(run, (row) => Object.keys(row.grades ?? {})).map((name) => numbers(`grade ${name}`, words(name), (row) => row.grades?.[name], (row) => fixed(row.grades?.[name], 2))),
    ...(has((row) => row.milliseconds) ? [numbers("time", "time", (row) => row.milliseconds, (row) => time(row.milliseconds))] : []),
    ...(has((row) => row.tokens) ? [numbers("tokens", "tokens", (row) => row.tokens, (row) => grouped(row.tokens))] : []),
  ];
};

// The tasks as they are listed: for the table, and for `j` and `k` on a task. Who goes through all of them asks often.
const orders = new WeakMap();
const listed = (run, parameters, [, task]) => {
  const query = new URLSearchParams([...parameters].filter(([key, value]) => FILTERS.includes(key) && value !== "")).toString();
  const link = (row) => taskLink(run.name, row, query, task);
  if (!orders.has(run.rows)) orders.set(run.rows, new Map());
  const known = orders.get(run.rows);
  if (!known.has(query)) {
    const columns = taskColumns(run, parameters, link);
    const sorted = parameters.get("sort") || (run.set ? "-cost" : run.score ? "average" : "id");
    known.set(query, { columns, sorted, link, ordered: inOrder(columns, filtered(run, parameters), sorted) });
  }
  return known.get(query);
};

const taskTable = (run, parameters, pages) => {
  const address = `${pages[0]}/${encodeURIComponent(run.name)}`;
  const set = (name, value) => go(address, { ...Object.fromEntries(parameters), [name]: value });
  const choice = (name, label, options, all = "all") => (options.length < 2 && !parameters.get(name) ? null : make("label", {}, label,
    make("select", { "data-filter": name, onchange: (event) => set(name, event.target.value) }, make("option", { value: "" }, all),
      options.map(([value, text]) => make("option", { value, selected: parameters.get(name) === value }, text)))));
  const of = (name, label, values, say = words) => choice(name, label, choices(run, values).map((value) => [value, say(value)]));
  const search = make("input", { type: "search", "data-filter": "q", placeholder: isAlone ? "any words of it" : "id, question, tool", value: parameters.get("q") ?? "", oninput: later((event) => set("q", event.target.value)) });
  const bound = (name, label) => make("label", {}, label, make("input", { type: "number", min: 0, max: 1, step: 0.05, "data-filter": name, value: parameters.get(name) ?? "", onchange: (event) => set(name, event.target.value) }));
  const metrics = run.columns.filter((column) => column.name !== "average").map((column) => [column.name, column.label]);
  const controls = make("div", { class: "controls", role: "search" }, make("label", {}, "search ", search), of("type", "type", (row) => row.type), of("outcome", "outcome", outcomeOf),
    of("tool", "calls the tool", (row) => row.tools, String), of("reason", "unmatched because", (row) => row.reasons ?? [], (reason) => REASONS[reason] ?? words(reason)),
    of("finding", "arguments", (row) => row.findings ?? [], (finding) => (finding === "rejected" ? "wrong arguments" : finding)),
    run.score ? [choice("metric", "metric", metrics, "average"), bound("from", "at least"), bound("to", "at most")] : null);
  const { columns, ordered, sorted } = listed(run, parameters, pages);
  const count = make("p", { class: "count", role: "status" }, `${grouped(ordered.length)} of ${plural(run.rows.length, "task")}`,
    ordered.length < run.rows.length ? [" ", make("button", { type: "button", class: "reset", onclick: () => go(address, { sort: parameters.get("sort") ?? "" }) }, "Show all")] : null);
  return { parts: [controls, count, ordered.length > 0 ? sortable("Tasks", columns, ordered, sorted, (sort) => set("sort", sort)) : null], ordered, search };
};
