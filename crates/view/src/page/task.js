// A task: the image and the question, the alignment of the calls with those of the reference, what the tools returned, what was said.
const taskView = async (parameters, name, id, [repeat, copy], pages = ["run", "task"]) => {
  const number = await numberOf(name, pages[0] === "run" ? "runs" : "references");
  const list = { ...await kept(`${pages[0]}/${number}.json`), name };
  // Of several with one id the last counts, unless the address says which.
  const exact = list.rows.findLastIndex((row) => row.id === id && row.repeat === repeat && (copy === undefined || (row.copy ?? 1) === copy));
  const row = exact >= 0 ? exact : list.rows.findLastIndex((found) => found.id === id);
  if (row < 0) throw new Error(`${name} has no task ${id}.`);
  const of = await get(`${pages[1]}/${number}/${row}.json`);
  if (of.row.id !== id) {
    // The run has grown since its list was read.
    known.delete(`${pages[0]}/${number}.json`);
    throw new Error("This run has just changed: open the task again.");
  }
  const around = listed(list, parameters, pages);
  const here = around.ordered.indexOf(list.rows[row]);
  const [previous, next] = [here - 1, here + 1].map((at) => (here >= 0 && around.ordered[at] ? around.link(around.ordered[at]) : undefined));
  const scored = of.score;
  const title = make("h2", { tabindex: -1 }, make("bdi", {}, named(of.row.id)), of.row.repeat > 1 ? ` repetition ${of.row.repeat}` : null, of.row.type ? make("small", {}, ` ${of.row.type}`) : null);
  const up = (pages[0] === "run" ? runLink : referencesLink)(name, parameters);
  const steps = make("p", { class: "steps" }, make("a", { href: up }, name), here >= 0 ? ` · ${here + 1} of ${around.ordered.length} ` : " ",
    previous ? [make("a", { href: previous, rel: "prev" }, "previous"), " "] : null, next ? make("a", { href: next, rel: "next" }, "next") : null);
  const others = of.others.length === 0 || (!of.score && !of.reference) ? null : make("p", { class: "others" }, of.score || pages[0] !== "run" ? [make("a", { href: tasksLink(id) }, "All runs side by side"), " · in "] : "In ",
    of.others.slice(0, 30).map((other, index) => [index > 0 ? ", " : "", make("a", { href: taskLink(other, of.row) }, other)]));
  const replaced = of.row.is_replaced ? make("p", { class: "warning" }, "A later one in the file has the same id: that one is scored, and this one is not.") : null;
  const failure = of.row.failure ?? scored?.failure;
  const parts = [title, steps, others, replaced, failure ? make("p", { class: "warning" }, `Failed: ${FAILURES[failure] ?? words(failure)}.`) : null,
    scored?.job ? jobOf(scored.job) : null, of.audit ? [of.audit.cost, of.audit.verdict].map((text) => (text ? make("p", { class: "note" }, text) : null)) : null, scored ? metricsOf(scored.metrics ?? {}, list.columns) : null,
    make("div", { class: "task" }, of.image ? figure(of.image) : null,
      make("div", {}, make("h3", {}, "Question"), make("p", { class: "passage", dir: "auto" }, of.question ?? "No question is recorded."), answers(of))),
    of.prediction || of.reference ? section(of.reference ? "Calls beside the reference" : "Calls", alignment(of)) : make("p", { class: "note" }, "Only the score is here, without the calls: name the files of predictions and references too."),
    resultsBeside(of), audited(of), leftBehind(of), graded(of), grades(scored), waterfall(of), conversation(of), of.facts.length > 0 ? section("Run", make("dl", { class: "facts" }, of.facts.map(([label, value]) => [make("dt", {}, label), make("dd", { dir: "auto" }, value)]))) : null];
  return { title: of.row.id, parts, previous, next, up, drawn: drawAll };
};

// Whether it did its job, and why: the first line that people read of a task.
const JOBS = { did: ["did the job", "good"], did_not: ["did not do the job", "bad"], cannot_tell: ["cannot tell whether it did the job", "unsure"] };
const jobOf = (job) => {
  const [verdict, kind] = Object.hasOwn(JOBS, job.verdict) ? JOBS[job.verdict] : ["", ""];
  const shown = Math.min(Math.max(Number(job.probability) || 0, 0.01), 0.99).toFixed(2);
  const reasons = Array.isArray(job.reasons) ? job.reasons.filter((reason) => typeof reason?.text === "string") : [];
  return make("div", { class: `job ${kind}` }, make("p", {}, make("strong", {}, verdict), ` (${shown})`), make("ul", {}, reasons.map((reason) => make("li", { dir: "auto" }, reason.text))));
};

const metricsOf = (metrics, columns) => make("dl", { class: "metrics" }, mainFirst(columns).filter((column) => typeof metrics[column.name] === "number")
  .map((column) => make("div", {}, make("dt", {}, column.label), make("dd", {}, bar(metrics[column.name])))));

const answers = (of) => [["prediction", of.prediction], ["reference", of.reference]].filter(([, side]) => side && (of.prediction?.answer || of.reference?.answer)).map(([name, side]) => [make("h3", {}, `Answer of the ${name}`),
  side.answer ? make("p", { class: "passage", dir: "auto" }, side.answer) : make("p", { class: "note" }, "none")]);

// What the score says of each call, by its index: its partner, or why it has none.
const verdicts = (score) => {
  const [references, predictions] = [new Map(), new Map()];
  if (!score) return { references, predictions };
  for (const match of score.matches ?? []) {
    references.set(match.reference.index, { match, partner: match.predicted });
    predictions.set(match.predicted.index, { match, partner: match.reference });
  }
  // Arguments are those of the call that they were compared with.
  for (const match of score.matches ?? []) if (match.compared_with) {
    const [aligned, compared] = [predictions.get(match.predicted.index), predictions.get(match.compared_with.index)];
    if (aligned?.match === match) aligned.wrong ??= [];
    if (compared) compared.wrong = match.wrong_arguments ?? [];
  }
  for (const alone of score.unmatched_references ?? []) references.set(alone.index, { alone });
  for (const alone of score.unmatched_predictions ?? []) predictions.set(alone.index, { alone });
  return { references, predictions };
};

const alignment = (of) => {
  const found = verdicts(of.score);
  const sides = [["reference", of.reference, found.references], ["prediction", of.prediction, found.predictions]].filter(([, side]) => side);
  const columns = sides.map(([name, side, verdict]) => {
    const steps = side.steps.map((calls, step) => make("section", { class: "step", "aria-label": `${name} step ${step + 1}` }, make("p", { class: "step-title" }, `step ${step + 1}${calls.length > 1 ? `, ${calls.length} calls at once` : calls.length === 0 ? ", no calls" : ""}`),
      calls.map((call, place) => card(name, call, `${step + 1}.${place + 1}`, call.index, verdict.get(call.index), of))));
    const cut = [[side.more_steps, "step"], [side.more_calls, "call"]].filter(([count]) => count > 0);
    return make("div", { class: `side ${name}` }, make("h4", {}, name), steps, steps.length === 0 ? make("p", { class: "note" }, "no calls") : null,
      cut.map(([count, thing]) => make("p", { class: "note" }, `${plural(count, `more ${thing}`)} not shown`)));
  });
  const flows = sides.some(([name]) => of.flow?.[name]?.some((call) => call.lines.some((line) => line.maker)));
  return [make("div", { class: `alignment sides${sides.length}${flows ? " flows" : ""}` }, columns, sides.length > 1 ? draw("svg", { class: "lines", "aria-hidden": "true" }) : null, flows ? draw("svg", { class: "flow-lines", "aria-hidden": "true" }) : null),
    of.score ? make("p", { class: "legend" }, "Lines join matched calls. Green: strong match. Yellow: weak match. Red: wrong arguments. Dashed: wrong order. The wider, the more similar. A dashed frame: an unmatched call.") : null,
    flows ? make("p", { class: "legend" }, "Arrows beside the columns lead from a call to those that read what it made; rest the pointer on a call, or go to its links, to see which.") : null];
};

const card = (side, call, at, index, verdict, of) => {
  const match = verdict?.match;
  const flow = makersOf(of, side, call.index, index);
  const wrong = new Map((verdict?.wrong ?? match?.wrong_arguments ?? []).map((found) => [found.argument.split("/")[1]?.replaceAll("~1", "/").replaceAll("~0", "~") ?? "", found]));
  const missing = side === "prediction" ? [...wrong.entries()].filter(([name, found]) => found.verdict === "missing" && !call.arguments?.some(([key]) => key === name)) : [];
  const isRejected = match && match.argument_fidelity < REJECTED;
  const line = ([name, value]) => {
    const found = wrong.get(name);
    return make("li", { class: found ? "wrong" : null }, name === "" ? null : [make("span", { class: "key" }, name), ": "], make("code", { dir: "auto" }, value),
      found && side === "prediction" ? make("span", { class: "why" }, `${found.verdict}: ${found.reason}`) : null);
  };
  const head = make("p", { class: "call-head" }, make("span", { class: "place" }, at), " ", told(call.tool), call.is_failed ? [" ", make("strong", { class: "flag" }, `failed${call.outcome ? `: ${words(call.outcome)}` : ""}`)] : null,
    call.milliseconds ? make("span", { class: "note" }, ` ${time(call.milliseconds)}`) : null);
  const said = match ? make("p", { class: "partner" }, match.strength === "strong" ? "= " : "~ ", make("a", { href: "#", class: "jump", "data-to": `${side === "reference" ? "prediction" : "reference"}-${verdict.partner.index}`, onclick: jump }, place(verdict.partner)),
    ` similarity ${fixed(match.similarity)}, fidelity ${fixed(match.argument_fidelity)}`, isRejected ? make("strong", { class: "flag" }, " ≠ wrong arguments") : null)
    : verdict?.alone ? make("p", { class: "partner" }, `${side === "reference" ? "missed" : "extra"}: ${REASONS[verdict.alone.reason] ?? words(verdict.alone.reason)}`, verdict.alone.best ? `; the most similar has ${fixed(verdict.alone.best.similarity)}` : "") : null;
  return make("div", { class: `call${of.score && verdict?.alone ? " alone" : ""}${isRejected ? " rejected" : ""}`, id: `${side}-${index}`, tabindex: -1,
    "data-index": index, "data-similarity": match?.similarity, "data-step": at.split(".")[0], "data-partner": match && side === "reference" ? match.predicted.index : null, "data-strong": match?.strength === "strong",
    ...(flow.makers.length > 0 ? { "data-makers": flow.makers.join(" "), ...MAKERS } : {}) },
  head, call.arguments === null ? make("p", { class: "note" }, "no arguments are recorded")
    : make("ul", { class: "arguments" }, call.arguments.map(line), missing.map(([name, found]) => make("li", { class: "wrong" }, make("span", { class: "key" }, name || "(all)"), make("span", { class: "why" }, `missing: ${found.reason}`)))),
  flowOf(flow), call.result ? resultOf(call) : null, said, comparedWith(match, side), furtherPair(of.score, side, call.index));
};

const LONG = 600;
const resultOf = (call) => {
  const { text, pictures } = call.result;
  const body = [text ? make("pre", { dir: "auto" }, text) : null, pictures.map(figure)];
  return make("details", { class: `result${call.is_failed ? " bad" : ""}`, open: call.is_failed || pictures.length > 0 || text.length <= LONG }, make("summary", {}, "result"), body);
};

const jump = (event) => {
  event.preventDefault();
  const to = byId(event.currentTarget.dataset.to);
  to?.scrollIntoView({ block: "center" });
  to?.focus();
};

// A label stands where no other stands: in the middle of its line, or else nearer to an end.
const labelPlace = (at, taken) => {
  const candidates = [0.5, 0.35, 0.65, 0.22, 0.78].map(at);
  const chosen = candidates.find(([x, y]) => taken.every(([a, b]) => Math.abs(a - x) > 30 || Math.abs(b - y) > 15)) ?? candidates[0];
  taken.push(chosen);
  return chosen;
};

// All lines of a page.
const drawAll = () => {
  drawLines();
  drawFlow();
};

// Lines between matched calls, from where they stand; wide ones join similar calls.
const drawLines = () => document.querySelectorAll(".alignment.sides2").forEach((all) => {
  const [lines, box] = [all.querySelector(".lines"), all.getBoundingClientRect()];
  lines.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  const partners = new Map([...all.querySelectorAll(".prediction .call")].map((call) => [call.dataset.index, call]));
  const pairs = [...all.querySelectorAll(".reference [data-partner]")].map((from) => ({ from, to: partners.get(from.dataset.partner) })).filter((pair) => pair.to);
  const places = pairs.map((pair) => [pair.from, pair.to].map((call) => Number(call.dataset.step)));
  const [labels, taken] = [[], []];
  const paths = pairs.map(({ from, to }, index) => {
    const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()];
    const [x1, y1, x2, y2] = [a.right - box.left, a.top - box.top + Math.min(a.height / 2, 24), b.left - box.left, b.top - box.top + Math.min(b.height / 2, 24)];
    const bend = (x2 - x1) * 0.4;
    // A point of the curve, t from 0 to 1.
    const mix = (t, p, q, r, s) => (1 - t) ** 3 * p + 3 * (1 - t) ** 2 * t * q + 3 * (1 - t) * t * t * r + t ** 3 * s;
    const [x, y] = labelPlace((t) => [mix(t, x1, x1 + bend, x2 - bend, x2), mix(t, y1, y1, y2, y2)], taken);
    const [isRejected, similarity] = [from.classList.contains("rejected"), Number(from.dataset.similarity)];
    // 1.00 only for calls that look the same to the encoder.
    const text = `${isRejected ? "≠ " : ""}${similarity < 1 ? Math.min(similarity, 0.99).toFixed(2) : "1.00"}`;
    const width = isRejected ? 46 : 32;
    labels.push(draw("rect", { x: x - width / 2, y: y - 8, width, height: 16, rx: 3 }), draw("text", { x, y, class: isRejected ? "rejected" : null }, text));
    const isInverted = places.some(([first, second]) => (first - places[index][0]) * (second - places[index][1]) < 0);
    return draw("path", { d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, class: `${isRejected ? "wrong" : from.dataset.strong === undefined ? "weak" : "strong"}${isInverted ? " inverted" : ""}`,
      "stroke-width": (1 + 6 * Math.max(0, similarity - 0.5)).toFixed(2), "data-pair": `${from.dataset.index}-${to.dataset.index}` });
  });
  lines.replaceChildren(...paths, ...labels);
});

// What panels say, and each of their judges.
const graded = (of) => of.grades.map(({ rubric, is_tied, said }) => {
  const names = [...new Set(said.flatMap(([, measures]) => Object.keys(measures)))];
  return section(`Grades${rubric ? ` by ${rubric}` : ""}`, wide(`Grades ${rubric}`, table(["judge", ...names.map(words)], said.map(([judge, measures]) => [make("bdi", {}, judge), ...names.map((name) => fixed(measures[name], 2))]), { class: "rows plain-numbers" })),
    is_tied ? make("p", { class: "note" }, "As many judges pass as fail, which counts as a failure.") : null);
});

const grades = (score) => {
  if (!score) return null;
  const rows = [];
  if (score.match) rows.push(["Passes", `${score.match.passed ? "yes" : "no"}${score.match.reason ? `: ${score.match.reason}` : ""}`]);
  for (const [suite, of] of Object.entries(score.suites ?? {})) for (const [name, value] of Object.entries(of ?? {})) rows.push([`${suite} ${words(name)}`, typeof value === "number" ? String(value) : value ?? "–"]);
  for (const [name, value] of Object.entries(score.grades ?? {})) rows.push([`grade: ${words(name)}`, typeof value === "object" ? JSON.stringify(value) : String(value)]);
  if (score.outcomes) for (const [name, value] of Object.entries(score.outcomes)) rows.push([`outcome: ${words(name)}`, typeof value === "object" ? JSON.stringify(value) : String(value)]);
  return rows.length === 0 ? null : section("Other scores", make("dl", { class: "facts" }, rows.map(([label, value]) => [make("dt", {}, label), make("dd", { dir: "auto" }, value)])));
};

// Times and tokens: turns of the model and the steps between them, one after the other; calls of a step side by side.
const CALLING = ["calls", "turn"];
const waterfall = (of) => {
  if (!of.prediction || of.turns.length === 0) return null;
  const rows = [];
  let [at, step] = [0, 0];
  for (const turn of of.turns) {
    rows.push({ label: `model: ${words(turn.purpose)}`, from: at, took: turn.milliseconds ?? 0, kind: "turn", said: `${grouped(turn.input_tokens)} in, ${grouped(turn.output_tokens)} out${turn.tries > 1 ? `, ${turn.tries} tries` : ""}`, odd: turn.oddities });
    at += turn.milliseconds ?? 0;
    const calls = CALLING.includes(turn.purpose) ? of.prediction.steps[step] : undefined;
    if (!calls) continue;
    for (const call of calls) rows.push({ label: call.tool, from: at, took: call.milliseconds ?? 0, kind: call.is_failed ? "call failed" : "call", said: call.is_failed ? "failed" : "" });
    at += Math.max(0, ...calls.map((call) => call.milliseconds ?? 0));
    step += 1;
  }
  const whole = Math.max(at, 1);
  const shown = rows.slice(0, 200).map((row) => [make("bdi", {}, row.label), time(row.took), row.said,
    [draw("svg", { viewBox: "0 0 1000 12", preserveAspectRatio: "none", class: "fall", "aria-hidden": "true" }, draw("rect", { class: row.kind, x: (1000 * row.from) / whole, y: 0, width: Math.max((1000 * row.took) / whole, 3), height: 12 })),
      row.odd?.map((text) => make("span", { class: "why" }, text))]]);
  return section("Times and tokens", make("p", { class: "note" }, `${time(at)} recorded.`), wide("Times and tokens", table(["what", "time", "tokens", "when"], shown, { class: "rows waterfall" })));
};

const conversation = (of) => {
  if (of.dialogue.length === 0) return null;
  const message = (said) => make("li", { class: `message ${["system", "user", "assistant", "tool"].includes(said.role) ? said.role : "other"}${said.is_failed ? " bad" : ""}` },
    make("p", { class: "note" }, said.role, said.purpose ? `: ${words(said.purpose)}` : "", said.is_failed ? " (failed)" : ""),
    said.thoughts ? make("blockquote", { dir: "auto" }, make("span", { class: "note" }, "thinks: "), said.thoughts) : null,
    said.text ? (said.text.length > LONG ? make("details", {}, make("summary", { dir: "auto" }, `${said.text.slice(0, 160)} …`), make("p", { class: "passage", dir: "auto" }, said.text)) : make("p", { class: "passage", dir: "auto" }, said.text)) : null,
    said.calls.length > 0 ? make("p", {}, "calls ", said.calls.map((tool, index) => [index > 0 ? ", " : "", told(tool)])) : null,
    said.pictures.map((found) => picture(found, "thumbnail", { class: "thumbnail" })));
  return section("Dialogue", make("details", { open: of.dialogue.length <= 12 }, make("summary", {}, plural(of.dialogue.length, "message")), make("ol", { class: "dialogue" }, of.dialogue.map(message))));
};
