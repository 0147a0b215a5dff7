// Two runs: how far they differ, what was gained and what was lost; and one task in several runs side by side.
const compareView = async (parameters, ...names) => {
  const [first, second] = [await numberOf(names[0]), await numberOf(names[1])];
  const [home, matrix, found] = [await kept("home.json"), await kept("matrix.json"), await kept(`compare/${first}-${second}.json`)];
  const link = (name) => make("a", { href: runLink(name) }, name);
  const parts = [make("h2", { tabindex: -1 }, names[0], " → ", names[1]), make("p", {}, link(names[0]), " compared with ", link(names[1]), ". ", make("a", { href: compareLink(names[1], names[0]) }, "Swap"))];
  if (found.problem) parts.push(make("p", { class: "warning" }, found.problem));
  else {
    const labels = new Map(home.columns.map((column) => [column.name, column.label]));
    parts.push(make("p", {}, verdictOf(found)), wide("Differences", table(["metric", names[0], names[1], "difference", "interval", "p"], found.differences.map((row) => [labels.get(row.metric) ?? words(row.metric), fixed(row.first), fixed(row.second),
      make("span", { class: row.difference < 0 ? "bad" : row.difference > 0 ? "good" : null }, signed(row.difference)), row.low === null || row.low === undefined ? "–" : `${signed(row.low)} to ${signed(row.high)}`,
      chance(row.corrected_p_value ?? row.p_value)]), { class: "rows plain-numbers" })),
      make("p", { class: "note" }, "p: paired permutation test. Metrics that do not decide have Holm's correction, so an interval can exclude zero although p is above 0.05."), found.notes.map((note) => make("p", { class: "note" }, note)));
  }
  const [a, b] = [first, second].map((number) => matrix.runs.findIndex(([run]) => run === number));
  const metric = parameters.get("metric") ?? mainOfRuns(matrix, [a, b]);
  const column = matrix.columns.findIndex((one) => one.name === metric);
  if (a < 0 || b < 0 || column < 0) return { title: "Compare", parts };
  const changes = matrix.tasks.map((task, index) => ({ task, from: matrix.values[column][index][a], to: matrix.values[column][index][b] })).filter((row) => row.from !== null && row.to !== null).map((row) => ({ ...row, change: row.to - row.from }));
  parts.push(make("div", { class: "controls" }, make("label", {}, "tasks by", make("select", { "data-filter": "metric", onchange: (event) => go(`compare/${names.map(encodeURIComponent).join("/")}`, { metric: event.target.value }) },
    mainFirst(matrix.columns).map((one) => make("option", { value: one.name, selected: one.name === metric }, one.label))))));
  const list = (title, rows) => section(`${title}: ${grouped(rows.length)}`, rows.length === 0 ? make("p", { class: "note" }, "none") : wide(title, table(["task", "type", names[0], names[1], "change"], rows.slice(0, 100).map((row) => {
    return [make("a", { href: tasksLink(row.task.id, names) }, named(row.task.id)), row.task.type ?? "–", fixed(row.from), fixed(row.to), signed(row.change)];
  }), { class: "rows plain-numbers" })), rows.length > 100 ? make("p", { class: "note" }, `and ${grouped(rows.length - 100)} more`) : null);
  const close = 5e-4;
  parts.push(make("div", { class: "cards" }, list("Regressions", changes.filter((row) => row.change < -close).sort((x, y) => x.change - y.change)), list("Gains", changes.filter((row) => row.change > close).sort((x, y) => y.change - x.change))),
    make("p", { class: "note" }, `${plural(changes.filter((row) => Math.abs(row.change) <= close).length, "task")} did not change.`));
  return { title: names.join(" → "), parts, up: "#/" };
};

const signed = (value) => (value === null || value === undefined ? "–" : `${value < 0 ? "−" : "+"}${fixed(Math.abs(value))}`);

const chance = (p) => (p === null || p === undefined ? "–" : p < 1e-3 ? "< 0.001" : p.toFixed(3));

const verdictOf = (found) => {
  const main = found.differences.find((row) => row.metric === found.metric);
  if (!main || main.low === null || main.low === undefined) return "Too few tasks to say which is better.";
  const interval = `the interval of the difference in ${words(found.metric)} (${signed(main.low)} to ${signed(main.high)})`;
  if (main.low > 0) return `The second is better: ${interval} lies above zero.`;
  if (main.high < 0) return `The second is worse: ${interval} lies below zero.`;
  return `No clear difference: ${interval} includes zero.`;
};

// One task in several runs.
const SIDES = 4;
const tasksView = async (parameters, id) => {
  const [home, matrix] = [await kept("home.json"), await kept("matrix.json")];
  const index = matrix.tasks.findIndex((task) => task.id === id);
  if (index < 0) throw new Error(`No scored run has the task ${id}.`);
  const main = matrix.columns.findIndex((column) => column.name === mainOfRuns(matrix));
  const entries = matrix.runs.map(([run, name], at) => ({ run, name, row: matrix.rows[index][at], value: matrix.values[main][index][at] })).filter((entry) => entry.row !== null);
  const asked = parameters.getAll("run");
  const ranked = [...entries].sort((a, b) => (b.value ?? -1) - (a.value ?? -1));
  const shown = asked.length > 0 ? asked.map((name) => entries.find((entry) => entry.name === name)).filter(Boolean) : [...new Set([...ranked.slice(0, SIDES / 2), ...ranked.slice(-SIDES / 2)])];
  const documents = await Promise.all(shown.map((entry) => get(`task/${entry.run}/${entry.row}.json`)));
  const first = documents.find((of) => of.question) ?? documents[0];
  // Where another run has it.
  const images = documents.map((of) => of.image).filter(Boolean);
  const image = images.find((found) => !found.problem) ?? images[0];
  const toggle = (name) => {
    const names = shown.map((entry) => entry.name);
    location.hash = tasksLink(id, names.includes(name) ? names.filter((known) => known !== name) : [...names, name]);
  };
  const choice = make("fieldset", { class: "controls" }, make("legend", {}, "runs"), ranked.map((entry) => make("label", { class: "check" },
    make("input", { type: "checkbox", checked: shown.includes(entry), onchange: () => toggle(entry.name) }), ` ${entry.name} `, make("span", { class: `chip ${shade(entry.value)}` }, fixed(entry.value)))));
  const side = (title, calls, link, value, answer) => make("section", { class: "side", "aria-label": title }, make("h3", {}, link ? make("a", { href: link }, title) : title, value === undefined ? null : [" ", make("span", { class: `chip ${shade(value)}` }, fixed(value))]),
    calls, make("h4", {}, "Answer"), answer ? make("p", { class: "passage", dir: "auto" }, answer) : make("p", { class: "note" }, "none"));
  const calls = (of, steps, verdict, name) => {
    return steps.map((step, at) => make("section", { class: "step", "aria-label": `${name} step ${at + 1}` }, make("p", { class: "step-title" }, `step ${at + 1}`),
      step.map((call, place) => card(name === "reference" ? name : "prediction", call, `${at + 1}.${place + 1}`, name === "reference" ? call.index : `${name}-${call.index}`, verdict?.get(call.index), of))));
  };
  const columns = [];
  const reference = first?.reference;
  if (reference) columns.push(side("reference", calls({ score: null }, reference.steps, null, "reference"), null, undefined, reference.answer));
  documents.forEach((of, at) => {
    const reason = of.row.failure ? FAILURES[of.row.failure] ?? words(of.row.failure) : "no calls are here";
    const made = of.prediction ? calls(of, of.prediction.steps, verdicts(of.score).predictions, `run${shown[at].run}`) : make("p", { class: "note" }, reason);
    columns.push(side(shown[at].name, made, taskLink(shown[at].name, of.row), shown[at].value, of.prediction?.answer));
  });
  documents.forEach((of, at) => {
    const missed = (of.score?.unmatched_references ?? []).map((alone) => make("li", {}, `${place(alone)} `, told(alone.tool), `: ${REASONS[alone.reason] ?? words(alone.reason)}`));
    if (missed.length > 0) columns[at + (reference ? 1 : 0)].append(make("h4", {}, "Missed"), make("ul", { class: "plain" }, missed));
  });
  const order = listedTasks.includes(id) ? listedTasks : matrix.tasks.map((task) => task.id);
  const near = [-1, 1].map((by) => order[order.indexOf(id) + by]).map((near) => (near === undefined ? undefined : tasksLink(near, asked)));
  return { title: id, parts: [make("h2", { tabindex: -1 }, make("bdi", {}, named(id)), matrix.tasks[index].type ? make("small", {}, ` ${matrix.tasks[index].type}`) : null), choice,
    make("div", { class: "task" }, image ? figure(image) : null, make("div", {}, make("h3", {}, "Question"), make("p", { class: "passage", dir: "auto" }, first?.question ?? "No question is recorded."))),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs side by side" }, make("div", { class: "beside" }, columns))], previous: near[0], next: near[1], up: "#/matrix" };
};
