// A run: what its score says of all tasks together, and the tasks as a table with filters that stand in the address.
const runView = async (parameters, name) => {
  const run = await kept(`run/${await numberOf(name)}.json`);
  const own = run.columns.filter((column) => !column.name.includes("."));
  const at = (name) => run.columns.findIndex((column) => column.name === name);
  const list = taskTable(run, parameters, own, at);
  const toTasks = make("button", { type: "button", onclick: () => { byId("tasks").scrollIntoView(); byId("tasks").focus(); } }, `Go to its ${plural(run.rows.length, "task")}`);
  const printed = isAlone ? make("button", { type: "button", id: "print", onclick: () => printAll(run, list.ordered) }, "Print all listed") : null;
  const parts = [make("h2", { tabindex: -1 }, run.name), run.score ? make("p", { class: "note" }, `${run.score.predictions} against ${run.score.references}`) : null, run.set ? said(run.set) : null, run.score ? [make("p", {}, toTasks, " ", printed), summary(run, parameters)] : null];
  parts.push(make("section", {}, make("h3", { id: "tasks", tabindex: -1 }, "Tasks"), list.parts));
  return { title: run.name, parts, search: list.search, up: "#/" };
};

// The run of a page that has no other.
const onlyView = async (parameters) => runView(parameters, (await kept("home.json")).runs[0].name);

// All listed tasks on paper; afterwards the page is as it was.
const printAll = async (run, rows) => {
  const tasks = await Promise.all(rows.map((row) => taskView(new URLSearchParams(), run.name, row.id, [row.repeat])));
  byId("main").append(...tasks.map((task) => make("article", { class: "printed" }, task.parts)));
  window.print();
  await show();
};

// References: the tasks of a file, each with the calls that should be made.
const referencesView = async (parameters, name) => {
  const run = await kept(`references/${await numberOf(name, "references")}.json`);
  const list = taskTable({ ...run, name }, parameters, [], () => -1, ["references", "reference"]);
  return { title: name, parts: [make("h2", { tabindex: -1 }, name), make("p", { class: "note" }, "References: what should be called. People accept, edit or reject them with ", make("code", {}, `m3 review ${name}`), "."), list.parts], search: list.search, up: "#/" };
};

// What the reader asked for: by these, tasks are listed and followed.
const FILTERS = ["q", "type", "outcome", "tool", "reason", "finding", "metric", "from", "to", "sort"];

// The words of a task, as its files have them; in a page with everything inside, those of calls, answers and results too.
const texts = new Map();
const textOf = (run, row) => {
  if (!texts.has(row)) {
    const strings = (value) => (typeof value === "string" ? [value] : value && typeof value === "object" ? Object.entries(value).flatMap(([key, part]) => (key === "audit" || key === "score" ? [] : strings(part))) : []);
    const all = isAlone ? strings(embedded(`task/0/${run.rows.indexOf(row)}.json`)) : [row.id, row.type ?? "", row.question ?? "", ...row.tools];
    texts.set(row, all.join("\n").toLowerCase());
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

const taskTable = (run, parameters, own, at, [page, task] = ["run", "task"]) => {
  const set = (name, value) => go(`${page}/${encodeURIComponent(run.name)}`, { ...Object.fromEntries(parameters), [name]: value });
  const kinds = (of) => [...new Set(run.rows.flatMap(of).filter((value) => value !== null && value !== undefined))].sort();
  const choice = (name, label, options, all = "all") => (options.length < 2 && !parameters.get(name) ? null : make("label", {}, label,
    make("select", { "data-filter": name, onchange: (event) => set(name, event.target.value) }, make("option", { value: "" }, all),
      options.map(([value, text]) => make("option", { value, selected: parameters.get(name) === value }, text)))));
  const plain = (values) => values.map((value) => [value, words(value)]);
  const search = make("input", { type: "search", "data-filter": "q", placeholder: "id, question, tool", value: parameters.get("q") ?? "", oninput: later((event) => set("q", event.target.value)) });
  const bound = (name, label) => make("label", {}, label, make("input", { type: "number", min: 0, max: 1, step: 0.05, "data-filter": name, value: parameters.get(name) ?? "", onchange: (event) => set(name, event.target.value) }));
  const controls = make("div", { class: "controls", role: "search" }, make("label", {}, "search ", search), choice("type", "type", plain(kinds((row) => row.type))),
    choice("outcome", "outcome", plain(kinds(outcomeOf))), choice("tool", "calls the tool", kinds((row) => row.tools).map((tool) => [tool, tool])),
    choice("reason", "unmatched because", kinds((row) => row.reasons ?? []).map((reason) => [reason, REASONS[reason] ?? words(reason)])), choice("finding", "arguments", kinds((row) => row.findings ?? []).map((finding) => [finding, finding === "rejected" ? "similar, but another call" : finding])),
    run.score ? [choice("metric", "metric", run.columns.filter((column) => column.name !== "average").map((column) => [column.name, column.label]), "average"), bound("from", "at least"), bound("to", "at most")] : null);
  const rows = filtered(run, parameters);
  const query = new URLSearchParams([...parameters].filter(([key, value]) => FILTERS.includes(key) && value !== "")).toString();
  const link = (row) => taskLink(run.name, row, query, task);
  const value = (name) => (row) => row.values?.[at(name)];
  const columns = [
    { name: "id", label: "task", value: (row) => row.id, cell: (row) => [make("a", { href: link(row) }, named(row.id)), row.repeat > 1 ? ` repetition ${row.repeat}` : null, row.is_replaced ? make("small", {}, " replaced by a later one") : null] },
    ...(run.rows.some((row) => row.picture) ? [{ label: "image", cell: (row) => (row.picture ? picture({ name: row.picture, title: `image of ${row.id}` }, "thumbnail", { class: "thumbnail" }) : null) }] : []),
    { name: "type", label: "type", value: (row) => row.type, cell: (row) => row.type ?? "–" },
    { name: "question", label: "question", value: (row) => row.question, class: "question", cell: (row) => make("span", { class: "clipped", dir: "auto" }, row.question ?? "") },
    ...(run.rows.some(outcomeOf) ? [{ name: "outcome", label: "outcome", value: outcomeOf, cell: (row) => make("span", { class: row.failure ? "bad" : null }, words(outcomeOf(row) ?? "–")) }] : []),
    { name: "calls", label: "calls", isNumber: true, value: (row) => row.calls, cell: (row) => [grouped(row.calls), row.failed_calls > 0 ? make("span", { class: "bad" }, ` ${grouped(row.failed_calls)} failed`) : null] },
    ...(run.rows.some((row) => row.cost !== undefined) ? [{ name: "cost", label: "costs", isNumber: true, value: (row) => row.cost, cell: (row) => fixed(row.cost, 4) }] : []),
    ...(run.score ? [
      { name: "average", label: "average", isNumber: true, value: value("average"), cell: (row) => bar(value("average")(row)) },
      { label: "metrics", cell: (row) => (row.values ? spark(row.values, own) : "–") },
      ...run.columns.filter((column) => column.name !== "average" && (column.name === parameters.get("metric") || column.name === (parameters.get("sort") ?? "").replace(/^-/, ""))).map((column) => (
        { name: column.name, label: column.label, isNumber: true, value: value(column.name), cell: (row) => fixed(value(column.name)(row)) }))] : []),
    ...[...new Set(run.rows.flatMap((row) => Object.keys(row.grades ?? {})))].map((name) => ({ name: `grade ${name}`, label: words(name), isNumber: true, value: (row) => row.grades?.[name], cell: (row) => fixed(row.grades?.[name], 2) })),
    ...(run.rows.some((row) => row.milliseconds) ? [{ name: "time", label: "time", isNumber: true, value: (row) => row.milliseconds, cell: (row) => time(row.milliseconds) }] : []),
    ...(run.rows.some((row) => row.tokens) ? [{ name: "tokens", label: "tokens", isNumber: true, value: (row) => row.tokens, cell: (row) => grouped(row.tokens) }] : []),
  ];
  const made = sortable("Tasks", columns, rows, parameters.get("sort") || (run.set ? "-cost" : run.score ? "average" : "id"), (sort) => set("sort", sort));
  const isFiltered = rows.length < run.rows.length;
  const count = make("p", { class: "count", role: "status" }, `${grouped(rows.length)} of ${plural(run.rows.length, "task")}`,
    isFiltered ? [" ", make("button", { type: "button", class: "reset", onclick: () => go(`${page}/${encodeURIComponent(run.name)}`, { sort: parameters.get("sort") ?? "" }) }, "Show all")] : null);
  return { parts: [controls, count, rows.length > 0 ? made.node : null], ordered: made.ordered, link, search };
};

// The tasks of a run as they are listed, for `j` and `k` on a task.
const listed = (run, parameters, pages) => taskTable(run, parameters, run.columns, (name) => run.columns.findIndex((column) => column.name === name), pages);

const told = (tool) => make("bdi", { class: "tool" }, tool);

const number = (name, label, cell) => [{ name, label, isNumber: true, value: (found) => found[name], cell: (found) => cell(found[name]) }];

const TOOL_COLUMNS = [{ name: "tool", label: "tool", value: (found) => found.tool, cell: (found) => told(found.tool) }, ...number("needed", "needed", grouped), ...number("matched", "matched", grouped),
  ...number("missed", "missed", (missed) => make("span", { class: missed > 0 ? "bad" : null }, grouped(missed))), ...number("extra", "extra", grouped),
  { label: "most often replaced by", cell: (found) => (found.replaced_by ? [told(found.replaced_by.tool), ` (${found.replaced_by.calls})`] : "") }, ...number("argument_similarity", "similarity", fixed), ...number("argument_fidelity", "fidelity", fixed)];

// What the score says of all tasks together.
const summary = (run, parameters) => {
  const score = run.score;
  const labels = averageFirst(run.columns.filter((column) => typeof score.aggregate?.[column.name] === "number"));
  const between = (bounds) => (bounds ? make("small", {}, ` ${fixed(bounds[0])} to ${fixed(bounds[1])}`) : null);
  const metrics = make("dl", { class: "metrics" }, labels.map((column) => make("div", {}, make("dt", {}, column.label), make("dd", {}, bar(score.aggregate[column.name]), between(run.set?.intervals[column.name])))));
  const costs = score.costs.slice(0, 5).map((cost) => make("li", {}, costWords(cost)));
  const silent = run.rows.filter((row) => outcomeOf(row) === "no_calls").length;
  if (silent > 0) costs.unshift(make("li", {}, make("strong", {}, grouped(silent)), ` of ${plural(run.rows.length, "task")} have `, make("a", { href: runLink(run.name, new URLSearchParams({ outcome: "no_calls" })) }, "no call at all"), "."));
  const isHere = new Set(run.rows.map((row) => row.id));
  const task = (id, repeat = 1) => (isHere.has(id) ? make("a", { href: taskLink(run.name, { id, repeat }) }, named(id)) : make("bdi", {}, named(id)));
  const types = Object.entries(score.by_type).map(([type, found]) => ({ type, ...found }));
  // A table beside that of tasks, with its own order in the address.
  const own = (key, columns, rows, sorted) => sortable(words(key), columns, rows, parameters.get(key) ?? sorted, (sort) => go(`run/${encodeURIComponent(run.name)}`, { ...Object.fromEntries(parameters), [key]: sort }), key).node;
  return [metrics, meanings(run.columns), run.set?.interval_note ? make("p", { class: "note" }, run.set.interval_note) : null, costs.length > 0 ? section("What costs most", make("ul", { class: "plain" }, costs)) : null,
    score.by_tool.length > 0 ? section("Tools", own("tools", TOOL_COLUMNS, score.by_tool, "-missed")) : null,
    types.length > 1 ? section("Types of task", own("types", [{ name: "type", label: "type", value: (found) => found.type, cell: (found) => make("a", { href: runLink(run.name, new URLSearchParams({ type: found.type })) }, found.type) }, ...number("trajectories", "tasks", grouped),
      ...labels.flatMap((column) => number(column.name, column.label, fixed))], types, "type")) : null,
    make("div", { class: "cards" },
      score.wrong_arguments.length > 0 ? section("Arguments most often wrong", wide("Wrong arguments", table(["argument", "wrong in", "for example"], score.wrong_arguments.slice(0, 12).map((found) => [[told(found.tool), " ", make("bdi", {}, found.argument || "(all)")],
        `${found.wrong} of ${found.pairs}`, [task(found.id), ": ", found.reason, values(found)]]), { class: "rows wordy" }))) : null,
      score.rejected_matches.count > 0 ? section("Similar, but another call", make("p", { class: "note" }, `${plural(score.rejected_matches.count, "pair")} that the similarity matches and fidelity rejects.`), wide("Rejected matches", table(["task", "call", "because of"], score.rejected_matches.matches.slice(0, 12).map((found) => [[task(found.id, found.repeat), ` ${place(found.reference)} → ${place(found.predicted)}`],
        told(found.tool), [make("strong", {}, found.argument || "all arguments"), `: ${found.reason}`, values(found)]]), { class: "rows wordy" }))) : null),
    run.set ? similarities(run.set) : null,
    make("details", { class: "origin" }, make("summary", {}, "What this score is"), run.set ? [make("ul", { class: "plain" }, run.set.ledger.map((line) => make("li", {}, line))), make("dl", { class: "facts" }, run.set.inputs.map(([what, file, hash]) => [make("dt", {}, what), make("dd", {}, file, make("small", {}, ` sha256 ${hash}`))]))] : null, make("p", {}, "Predictions ", make("code", {}, score.predictions), ", references ", make("code", {}, score.references), `, profile ${score.profile}.`), make("p", {}, make("code", {}, score.signature)))];
};

const values = (found) => (found.reference_value === undefined ? null : [" ", make("code", {}, found.reference_value ?? "absent"), " → ", make("code", {}, found.predicted_value ?? "absent")]);

const LOST = { missed: "missed calls", extra: "extra calls", matched: "matched calls" };
const CAUSES = { ...REASONS, task_failed: "the task failed or has no prediction", wrong_arguments: "their arguments are wrong" };

const costWords = (cost) => [make("strong", {}, grouped(cost.lost)), ` of the ${grouped(cost.of)} ${LOST[cost.calls] ?? words(cost.calls)}: ${CAUSES[cost.reason] ?? words(cost.reason)}. Most: `,
  cost.tools.slice(0, 4).map((found, index) => [index > 0 ? ", " : "", told(found.tool), ` ${grouped(found.lost)} of its ${grouped(found.of)}`])];
