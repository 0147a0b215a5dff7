// What only an audit knows: of a task all arguments, the steps and the similarities; of a set what was counted.
const shaded = (part) => `v${5 + Math.round(5 * part)}`;

// Numbers between calls or steps of both sides.
const matrixOf = (label, { columns, rows }) => wide(label, make("table", { class: "heat matrix" }, make("thead", {}, make("tr", {}, make("td"), columns.map((column) => make("th", { scope: "col" }, column)))),
  make("tbody", {}, rows.map(([name, cells]) => make("tr", {}, make("th", { scope: "row" }, name), cells.map(([text, part, isChosen]) => make("td", { class: `amount ${part > 0 ? shaded(part) : ""}${isChosen ? " chosen" : ""}` }, isChosen ? "✓ " : null, text)))))));

const valueOf = (value) => make("td", {}, value === null ? make("em", {}, "absent") : make("code", { dir: "auto" }, value));

// The arguments of a matched pair that are not equal, side by side.
const argumentsOf = (match, found) => {
  const isRejected = match.argument_fidelity < REJECTED;
  return make("li", { class: isRejected ? "rejected" : null }, make("p", {}, `${place(match.reference)} → ${place(match.predicted)} `, told(match.tool), ` ${fixed(match.similarity, 4)} ${match.strength}, fidelity ${fixed(match.argument_fidelity, 4)}`,
    isRejected ? make("strong", { class: "flag" }, " ≠ wrong arguments") : null, found.unequal.length === 0 ? ": the same arguments" : null),
  comparedWith(match, "reference"), found.regions ? make("p", { class: "note" }, `Regions: ${found.regions}`) : null,
  found.unequal.length === 0 ? null : [wide(`Arguments of ${match.tool}`, make("table", { class: "differences" }, make("thead", {}, make("tr", {}, ["argument", "reference", "prediction"].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, found.unequal.map((argument) => make("tr", {}, make("th", { scope: "row" }, argument.names.map((name, index) => [index > 0 ? " → " : null, make("bdi", {}, name)]), " ",
      make("span", { class: `verdict ${argument.weight}`, title: argument.title }, `${argument.mark} ${argument.verdict}`), make("span", { class: "note under" }, argument.reason)), valueOf(argument.reference), valueOf(argument.predicted)))))),
  found.more > 0 ? make("p", { class: "note" }, `${found.more} more are not equal`) : null, found.equal ? make("p", { class: "note" }, `= ${found.equal}`) : null]);
};

const audited = (of) => {
  const audit = of.audit;
  if (!audit) return null;
  const matches = (of.score.matches ?? []).slice(0, audit.arguments.length);
  const rejected = matches.filter((match) => match.argument_fidelity < REJECTED).length;
  const only = rejected > 0 && rejected < matches.length ? make("label", { class: "check only" }, make("input", { type: "checkbox" }), ` only the ${rejected} with wrong arguments`) : null;
  return [audit.structure.length > 0 ? section("Structure", make("ul", { class: "structure" }, audit.structure.map((sentence) => make("li", {}, sentence)))) : null,
    matches.length > 0 ? make("section", { class: "compared" }, make("h3", {}, "Arguments"), only, make("ul", { class: "matches plain" }, matches.map((match, index) => argumentsOf(match, audit.arguments[index])))) : null,
    audit.buckets.length > 0 ? section("Similarities by tool", make("p", { class: "note" }, "Rows are reference calls, columns predicted calls; ✓ marks the chosen assignment."), make("div", { class: "matrices" },
      audit.buckets.map((bucket) => make("div", {}, make("h4", {}, told(bucket.tool)), bucket.cut ? make("p", { class: "note" }, bucket.cut) : null, matrixOf(`Similarities of ${bucket.tool}`, bucket.matrix))))) : null,
    audit.steps ? section("Steps", make("p", { class: "note" }, "Summed similarity of steps: rows reference, columns prediction; at most 40 of each."), matrixOf("Steps", audit.steps)) : null,
    audit.more.map((note) => make("p", { class: "note" }, note))];
};

// Where the score comes from, and what to know before its numbers.
const said = (set) => [set.notes.map((note) => make("p", { class: "note" }, note)), set.warnings.map((warning) => make("p", { class: "warning" }, make("strong", {}, "Warning"), `: ${warning}`))];

// Calls by the similarity to their partner or, hatched, to the best candidate.
const histogram = ({ overview, thresholds }) => {
  const [width, height, bins] = [640, 180, overview.similarities];
  const highest = Math.max(1, ...bins.map((bin) => bin.matched + bin.unmatched));
  return draw("svg", { class: "figure", viewBox: "-4 -20 648 230", role: "img", "aria-label": "Histogram of similarities with the thresholds; the table below says the same" },
    draw("defs", {}, draw("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, draw("line", { class: "hatch", x1: 0, y1: 0, x2: 0, y2: 6 }))),
    bins.map(({ from, matched, unmatched }) => {
      const [x, step, high, rest] = [width * from, width / bins.length, (height * matched) / highest, (height * unmatched) / highest];
      return [draw("rect", { class: "bar-fill", x: x + 1, y: height - high, width: step - 2, height: high }), draw("rect", { class: "bar-hatched", x: x + 1, y: height - high - rest, width: step - 2, height: rest }),
        matched + unmatched > 0 ? draw("text", { class: "middle", x: x + step / 2, y: height - high - rest - 4 }, String(matched + unmatched)) : null];
    }),
    thresholds.map((value, index) => [draw("line", { class: "threshold", x1: width * value, x2: width * value, y1: 0, y2: height }), draw("text", { class: "on-top", x: width * value - 5, y: 14 + 20 * index, "text-anchor": "end" }, `${["weak", "strong"][index]} ${value}`)]),
    [0, 0.5, 1].map((value) => draw("text", { x: width * value, y: 200, "text-anchor": ["start", "middle", "end"][2 * value] }, String(value))));
};

const similarities = (set) => {
  const { similarities: bins, reasons, confused_tools: confused } = set.overview;
  const filled = bins.filter((bin) => bin.matched + bin.unmatched > 0);
  const ranges = filled.map((bin) => [`${bin.from.toFixed(2)} to ${(bin.from + 1 / bins.length).toFixed(2)}`, grouped(bin.matched), grouped(bin.unmatched)]);
  return [section("Similarities", make("p", {}, "Reference calls by the similarity to their partner or, hatched, to the best candidate of those without one."), histogram(set),
    make("details", {}, make("summary", {}, "As a table"), table(["similarity", "matched", "unmatched"], ranges, { class: "plain-numbers" }))),
  make("div", { class: "cards" },
    reasons.length > 0 ? section("Why calls are unmatched", table(["call of the", "reason", "calls"], reasons.map((found) => [found.side, REASONS[found.reason] ?? words(found.reason), grouped(found.calls)]), { class: "rows" })) : null,
    confused.length > 0 ? section("Tools called in place of others", table(["expected", "called", "calls"], confused.map((found) => [told(found.reference), told(found.predicted), grouped(found.calls)]), { class: "rows" })) : null)];
};
