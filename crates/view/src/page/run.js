// A run: what its score says of all tasks together, and its tasks.
const runView = async (parameters, name) => {
  const run = await kept(`run/${await numberOf(name)}.json`);
  const list = taskTable(run, parameters, ["run", "task"]);
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
  const list = taskTable({ ...run, name }, parameters, ["references", "reference"]);
  return { title: name, parts: [make("h2", { tabindex: -1 }, name), make("p", { class: "note" }, "References: what should be called. People accept, edit or reject them with ", make("code", {}, `m3 review ${name}`), "."), list.parts], search: list.search, up: "#/" };
};

const told = (tool) => make("bdi", { class: "tool" }, tool);

const number = (name, label, cell) => [{ name, label, isNumber: true, value: (found) => found[name], cell: (found) => cell(found[name]) }];

const TOOL_COLUMNS = [{ name: "tool", label: "tool", value: (found) => found.tool, cell: (found) => told(found.tool) }, ...number("needed", "needed", grouped), ...number("matched", "matched", grouped),
  ...number("missed", "missed", (missed) => make("span", { class: missed > 0 ? "bad" : null }, grouped(missed))), ...number("extra", "extra", grouped),
  { label: "most often replaced by", cell: (found) => (found.replaced_by ? [told(found.replaced_by.tool), ` (${found.replaced_by.calls})`] : "") }, ...number("argument_similarity", "similarity", fixed), ...number("argument_fidelity", "fidelity", fixed)];

const REGION_COLUMN = number("region_overlap", "IoU", fixed);

// What the score says of all tasks together.
const summary = (run, parameters) => {
  const score = run.score;
  const labels = mainFirst(run.columns.filter((column) => typeof score.aggregate?.[column.name] === "number"));
  const graded = choices(run, (row) => Object.keys(row.grades ?? {})).map((name) => {
    const found = run.rows.map((row) => row.grades?.[name]).filter((value) => value !== undefined);
    return make("div", {}, make("dt", {}, `${words(name)}, of ${plural(found.length, "task")}`), make("dd", {}, bar(found.reduce((sum, value) => sum + value, 0) / found.length)));
  });
  const between = (bounds) => (bounds ? make("small", {}, ` ${fixed(bounds[0])} to ${fixed(bounds[1])}`) : null);
  const metrics = make("dl", { class: "metrics" }, labels.map((column) => make("div", {}, make("dt", {}, column.label), make("dd", {}, bar(score.aggregate[column.name]), between(run.set?.intervals[column.name])))), graded);
  const costs = score.costs.slice(0, 5).map((cost) => make("li", {}, costWords(cost)));
  // Some tasks need no call.
  const average = run.columns.findIndex((column) => column.name === "average");
  const silent = run.rows.filter((row) => outcomeOf(row) === "no_calls" && row.values?.[average] < 1).length;
  if (silent > 0) costs.unshift(make("li", {}, make("strong", {}, grouped(silent)), ` of ${plural(run.rows.length, "task")} made `, make("a", { href: runLink(run.name, new URLSearchParams({ outcome: "no_calls", to: 0.9999 })) }, "no call"), "."));
  const isHere = new Set(run.rows.map((row) => row.id));
  const task = (id, repeat = 1) => (isHere.has(id) ? make("a", { href: taskLink(run.name, { id, repeat }) }, named(id)) : make("bdi", {}, named(id)));
  const types = Object.entries(score.by_type).map(([type, found]) => ({ type, ...found }));
  // A table beside that of tasks, with its own order in the address.
  const own = (key, columns, rows, sorted) => sortable(words(key), columns, rows, parameters.get(key) ?? sorted, (sort) => go(`run/${encodeURIComponent(run.name)}`, { ...Object.fromEntries(parameters), [key]: sort }), key);
  return [metrics, meanings(run.columns), run.set?.interval_note ? make("p", { class: "note" }, run.set.interval_note) : null, costs.length > 0 ? section("What costs most", make("ul", { class: "plain" }, costs)) : null,
    score.by_tool.length > 0 ? section("Tools", own("tools", score.by_tool.some((found) => typeof found.region_overlap === "number") ? [...TOOL_COLUMNS, ...REGION_COLUMN] : TOOL_COLUMNS, score.by_tool, "-missed")) : null,
    types.length > 1 ? section("Types of task", own("types", [{ name: "type", label: "type", value: (found) => found.type, cell: (found) => make("a", { href: runLink(run.name, new URLSearchParams({ type: found.type })) }, found.type) }, ...number("trajectories", "tasks", grouped),
      ...labels.flatMap((column) => number(column.name, column.label, fixed))], types, "type")) : null,
    make("div", { class: "cards" },
      score.wrong_arguments.length > 0 ? section("Arguments most often wrong", wide("Wrong arguments", table(["argument", "wrong in", "for example"], score.wrong_arguments.slice(0, 12).map((found) => [[told(found.tool), " ", make("bdi", {}, found.argument || "(all)")],
        `${found.wrong} of ${found.pairs}`, [task(found.id), ": ", found.reason, values(found)]]), { class: "rows wordy" }))) : null,
      score.rejected_matches.count > 0 ? section("Look alike, but arguments are wrong", make("p", { class: "note" }, `${plural(score.rejected_matches.count, "pair")} that the similarity matches and fidelity rejects.`),
        wide("Rejected matches", table(["task", "call", "because of"], score.rejected_matches.matches.slice(0, 12).map((found) => [[task(found.id, found.repeat), ` ${place(found.reference)} → ${place(found.predicted)}`],
        told(found.tool), [make("strong", {}, found.argument || "all arguments"), `: ${found.reason}`, values(found)]]), { class: "rows wordy" }))) : null),
    run.set ? similarities(run.set) : null,
    make("details", { class: "origin" }, make("summary", {}, "How it was scored"),
      run.set ? [make("ul", { class: "plain" }, run.set.ledger.map((line) => make("li", {}, line))), make("dl", { class: "facts" }, run.set.inputs.map(([what, file, hash]) => [make("dt", {}, what), make("dd", {}, file, make("small", {}, ` sha256 ${hash}`))]))] : null,
      make("p", {}, "Predictions ", make("code", {}, score.predictions), ", references ", make("code", {}, score.references), `, profile ${score.profile}.`),
      make("p", {}, make("code", {}, score.signature)))];
};

const values = (found) => (found.reference_value === undefined ? null : [" ", make("code", {}, found.reference_value ?? "absent"), " → ", make("code", {}, found.predicted_value ?? "absent")]);

const LOST = { missed: "missed calls", extra: "extra calls", matched: "matched calls" };
const CAUSES = { ...REASONS, task_failed: "the task failed or has no prediction", wrong_arguments: "wrong arguments" };

const costWords = (cost) => [make("strong", {}, grouped(cost.lost)), ` of the ${grouped(cost.of)} ${LOST[cost.calls] ?? words(cost.calls)}: ${CAUSES[cost.reason] ?? words(cost.reason)}. Most: `,
  cost.tools.slice(0, 4).map((found, index) => [index > 0 ? ", " : "", told(found.tool), ` ${grouped(found.lost)} of its ${grouped(found.of)}`])];
