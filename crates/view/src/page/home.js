// All runs, and the leaderboard.
const board = async () => {
  // A minute at most: while a run goes on there may always be a newer one to wait for.
  for (let tries = 0; ; tries += 1) {
    const found = await kept("board.json");
    if (!found.is_working && (found.revision >= revision || tries > 120)) return found;
    if (tries > 120) throw new Error("The leaderboard is not ready yet. Open it again.");
    known.delete("board.json");
    await new Promise((done) => { setTimeout(done, 500); });
  }
};

const stateOf = (run) => [progressOf(run), run.problem ? make("p", { class: "bad" }, run.problem) : null];

const progressOf = (run) => {
  const at = run.progress;
  if (!at) return run.is_being_scored ? "being scored" : run.values ? "scored" : "not scored";
  const of = `${grouped(at.done)} of ${plural(at.of, "task")}`;
  if (at.is_running) return [make("span", { class: "running" }, "running"), ` ${of}`];
  return at.was_interrupted ? `interrupted, ${of}` : at.done < at.of ? `stopped, ${of}` : run.values ? "scored" : "done";
};

const metricColumns = (home) => mainFirst(home.columns).map((column) => [column, home.columns.indexOf(column)]).map(([column, index]) => (
  { name: column.name, label: column.label, isNumber: true, value: (run) => run.values?.[index], cell: (run) => bar(run.values?.[index]) }));

// Grades say how many tasks they are of.
const gradeColumns = (home) => [...new Set(home.runs.flatMap((run) => Object.keys(run.grades)))].map((name) => ({ name: `grade ${name}`, label: words(name), isNumber: true, value: (run) => run.grades[name]?.[0],
  cell: (run) => (run.grades[name] ? [fixed(run.grades[name][0]), make("small", { class: "under" }, `of ${grouped(run.grades[name][1])}`)] : "–") }));

const runColumns = (home) => [
  { name: "name", label: "run", value: (run) => run.name, cell: (run) => [make("a", { href: runLink(run.name) }, run.name),
    run.model && run.model !== run.name ? make("small", {}, ` ${run.model}`) : null, run.format ? make("small", { class: "under" }, run.format) : null] },
  { name: "state", label: "state", value: (run) => run.progress?.done ?? 0, cell: stateOf },
  ...(new Set(home.runs.map((run) => run.references).filter(Boolean)).size > 1 ? [{ name: "references", label: "references", value: (run) => run.references, cell: (run) => run.references ?? "–" }] : []),
  { name: "tasks", label: "tasks", isNumber: true, value: (run) => run.trajectories, cell: (run) => grouped(run.trajectories) },
  ...(home.runs.some((run) => run.failed > 0) ? [{ name: "failed", label: "failed", isNumber: true, value: (run) => run.failed, cell: (run) => grouped(run.failed) }] : []),
  ...metricColumns(home).slice(0, 1), ...gradeColumns(home), ...metricColumns(home).slice(1),
  ...(home.runs.some((run) => run.failed_calls > 0) ? [{ name: "errors", label: "failed calls", isNumber: true, value: (run) => (run.calls ? run.failed_calls / run.calls : null), cell: (run) => percent(run.failed_calls, run.calls) }] : []),
  { name: "calls", label: "calls a task", isNumber: true, value: (run) => (run.trajectories ? run.calls / run.trajectories : null), cell: (run) => (run.calls ? (run.calls / run.trajectories).toFixed(1) : "–") },
  ...(home.runs.some((run) => run.tokens) ? [{ name: "tokens", label: "tokens a task", isNumber: true, value: (run) => (run.tokens ? run.tokens / run.trajectories : null), cell: (run) => (run.tokens ? grouped(run.tokens / run.trajectories) : "–") }] : []),
];

// What other benchmarks say: a table for each, its values in the order of its report.
const suiteTables = (home, parameters) => [...new Set(home.runs.flatMap((run) => Object.keys(run.suites ?? {})))].map((suite) => {
  const runs = home.runs.filter((run) => run.suites?.[suite]);
  const names = [...new Set(runs.flatMap((run) => Object.entries(run.suites[suite]).filter(([, value]) => typeof value === "number").map(([name]) => name)))];
  const columns = [{ name: "run", label: "run", value: (run) => run.name, cell: (run) => make("a", { href: runLink(run.name) }, run.name) },
    ...names.map((name) => ({ name, label: words(name), isNumber: true, value: (run) => run.suites[suite][name], cell: (run) => amount(run.suites[suite][name]) }))];
  return section(`Scores by the rules of ${suite}`, sortable(suite, columns, runs, parameters.get(suite) ?? "run", (sort) => go("", { ...Object.fromEntries(parameters), [suite]: sort }), suite));
});

const homeView = async (parameters) => {
  const home = await kept("home.json");
  const isScored = home.runs.some((run) => run.values);
  const sorted = parameters.get("sort") ?? (isScored ? `-${mainMetric(home.columns.map((column) => column.name))}` : "name");
  const made = sortable("Runs", runColumns(home), home.runs, sorted, (sort) => go("", { ...Object.fromEntries(parameters), sort }));
  const trajectories = home.runs.reduce((sum, run) => sum + run.trajectories, 0);
  const parts = [make("h2", { tabindex: -1 }, "Runs"), make("p", {}, `${plural(home.runs.length, "run")} with ${plural(trajectories, "trajectory").replace("trajectorys", "trajectories")}`,
    home.references.length > 0 ? [`; references: `, home.references.map((found, index) => [index > 0 ? ", " : "", make("a", { href: referencesLink(found.name) }, found.name), ` (${plural(found.tasks, "task")}${found.is_rejected ? ", rejected: nothing is scored against them" : ""})`])] : "", ".")];
  if (home.runs.length > 0) parts.push(made);
  if (home.runs.some((run) => run.is_being_scored)) parts.push(make("p", { class: "note" }, "Runs are being scored; this page shows the numbers when they are there."));
  if (!isScored && home.runs.length > 0 && home.references.length === 0) parts.push(make("p", { class: "note" }, "No scores yet. Start again with: m3 view PATH --references FILE"));
  parts.push(home.notes.map((note) => make("p", { class: "note" }, note)));
  if (home.passed_over.length > 0) parts.push(make("details", {}, make("summary", {}, `${plural(home.passed_over.length, "file")} in these folders ${home.passed_over.length === 1 ? "is" : "are"} not shown`),
    make("ul", { class: "plain" }, home.passed_over.map(([name, reason]) => make("li", {}, make("code", {}, name), `: ${reason}`)))));
  if (home.runs.filter((run) => run.values).length > 1) parts.push(chooser(home), afterwards(hardest));
  parts.push(suiteTables(home, parameters), meanings(home.columns));
  return { title: "Runs", parts };
};

// The tasks on which the best run is worst: what all fail.
const hardest = async () => {
  const matrix = await kept("matrix.json");
  const metric = mainOfRuns(matrix);
  const main = matrix.columns.findIndex((column) => column.name === metric);
  const best = matrix.tasks.map((task, index) => {
    const values = matrix.values[main][index].filter((value) => value !== null);
    return { task, index, values, best: Math.max(...values), mean: values.reduce((sum, value) => sum + value, 0) / values.length };
  }).filter((found) => found.values.length > 1).sort((a, b) => a.mean - b.mean || a.best - b.best);
  const failed = best.filter((found) => found.best < 0.5);
  const all = make("a", { href: "#/matrix" }, "All tasks");
  if (best.length === 0) return null;
  if (failed.length === 0) return section("Tasks that no run solves", make("p", {}, "None: some run has 0.5 or more in each task, by ", words(metric), ". ", all));
  const shown = failed.slice(0, 8);
  return section("Tasks that no run solves", make("p", {}, `${grouped(failed.length)} of ${plural(best.length, "task")}: no run has 0.5 or more, by ${words(metric)}. `, all),
    wide("Hard tasks", table(["task", "type", "best", "mean", "question"], shown.map((found) => [make("a", { href: tasksLink(found.task.id) }, found.task.id),
      found.task.type ?? "–", fixed(found.best), fixed(found.mean), make("span", { class: "clipped", dir: "auto" }, found.task.question ?? "")]), { class: "rows" })));
};

// Two runs to compare.
const chooser = (home) => {
  const scored = home.runs.filter((run) => run.values);
  const choice = (label, chosen) => make("label", {}, label, make("select", {}, scored.map((run) => make("option", { value: run.name, selected: run === chosen }, run.name))));
  const ranked = [...scored].sort((a, b) => (b.values.at(-1) ?? 0) - (a.values.at(-1) ?? 0));
  const [first, second] = [choice("from", ranked[1]), choice("to", ranked[0])];
  const value = (label) => label.querySelector("select").value;
  return section("Compare two runs", make("div", { class: "controls" }, first, second,
    make("button", { type: "button", onclick: () => { location.hash = compareLink(value(first), value(second)); } }, "Compare")));
};

// Averages with their intervals, best first.
const intervals = (models) => {
  const [left, width, row] = [270, 420, 26];
  // From the lowest value on: models often lie close together.
  const lowest = Math.floor(Math.min(...models.map((model) => model.metrics.average.low ?? model.metrics.average.value)) * 10) / 10;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => lowest + part * (1 - lowest));
  const x = (value) => left + (width * (Math.min(Math.max(value, lowest), 1) - lowest)) / (1 - lowest || 1);
  return draw("svg", { class: "figure", viewBox: `0 0 ${left + width + 70} ${models.length * row + 30}`, role: "img", "aria-label": "Averages with intervals; the table says the same" },
    ticks.map((tick) => [draw("line", { class: "axis", x1: x(tick), x2: x(tick), y1: 0, y2: models.length * row + 6 }), draw("text", { x: x(tick), y: models.length * row + 22, "text-anchor": "middle" }, tick.toFixed(2))]),
    models.map((model, index) => {
      const [y, found] = [index * row + 14, model.metrics.average];
      return [draw("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, model.model.length > 30 ? `${model.model.slice(0, 29)}…` : model.model),
        found.low === null || found.low === undefined ? null : draw("line", { class: "interval", x1: x(found.low), x2: x(found.high), y1: y, y2: y }),
        draw("circle", { class: "dot", cx: x(found.value), cy: y, r: 5 }), draw("text", { x: left + width + 12, y: y + 4 }, fixed(found.value))];
    }));
};

const between = (found) => (found.low === null || found.low === undefined ? "" : `${fixed(found.low)} to ${fixed(found.high)}`);

const boardView = async (parameters) => {
  const [home, boards] = [await kept("home.json"), await board()];
  const names = new Set(home.runs.map((run) => run.name));
  const linked = (name) => (names.has(name) ? make("a", { href: runLink(name) }, name) : name);
  const labels = new Map(home.columns.map((column) => [column.name, column.label]));
  const parts = [make("h2", { tabindex: -1 }, "Leaderboard")];
  if (boards.groups.length === 0) parts.push(make("p", {}, "There are no scores yet."));
  for (const group of boards.groups) {
    parts.push(make("h3", {}, `Scored against ${group.references}`));
    if (!group.board) { parts.push(make("p", { class: "note" }, group.problem)); continue; }
    const { models, columns, types } = group.board;
    const rows = models.map((model) => ({ ...model, place: model.rank.rank }));
    const shown = [
      { name: "model", label: "run", value: (model) => model.model, cell: (model) => linked(model.model) },
      { name: "place", label: "place", isNumber: true, value: (model) => model.place, cell: (model) => [String(model.place), make("small", { class: "under" }, `${model.rank.best} to ${model.rank.worst}`)] },
      ...mainFirst(["average", ...columns.filter((name) => name !== "average")].map((name) => ({ name }))).map(({ name }) => ({ name, label: labels.get(name) ?? words(name), isNumber: true, value: (model) => model.metrics[name]?.value,
        cell: (model) => (model.metrics[name] ? [fixed(model.metrics[name].value), make("small", { class: "under" }, between(model.metrics[name]))] : "–") })),
      { name: "failed", label: "failed", isNumber: true, value: (model) => model.failures?.failed ?? 0, cell: (model) => String(model.failures?.failed ?? "–") },
    ];
    parts.push(intervals(models), sortable("Leaderboard", shown, rows, parameters.get("sort") ?? "place", (sort) => go("board", { sort })));
    parts.push(make("p", { class: "note" }, `Small numbers: ${100 * group.board.level} % intervals of place and score, from ${grouped(group.board.resamples)} resamples of ${plural(group.board.tasks ?? 0, "task")}.`),
      group.board.notes.map((note) => make("p", { class: "note" }, note)));
    if (types.length > 1) {
      const ranked = models.map((model) => model.model);
      const value = (type, name) => type.models.find((row) => row.model === name)?.metrics.average;
      parts.push(section("By type of task", make("p", {}, "Averages; the best of each type in bold."), wide("By type of task", make("table", { class: "heat" },
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "type"), make("th", { scope: "col", class: "amount" }, "tasks"), ranked.map((name) => make("th", { scope: "col" }, linked(name))))),
        make("tbody", {}, types.map((type) => {
          const best = Math.max(...ranked.map((name) => value(type, name) ?? -1));
          return make("tr", {}, make("th", { scope: "row" }, type.type), make("td", { class: "amount" }, grouped(type.tasks)),
            ranked.map((name) => make("td", { class: shade(value(type, name)) }, make(value(type, name) === best ? "strong" : "span", {}, fixed(value(type, name))))));
        }))))));
    }
  }
  return { title: "Leaderboard", parts };
};
