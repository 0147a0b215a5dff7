// What both trajectories do: which call made what another one reads, results side by side, what is left behind.
const makersOf = (of, side, index, id) => {
  const lines = of.flow?.[side]?.find((found) => found.index === index)?.lines ?? [];
  const idOf = (maker) => `${side}-${String(id).replace(/\d+$/, maker.index)}`;
  return { lines, idOf, makers: [...new Set(lines.map((line) => line.maker).filter(Boolean).map(idOf))] };
};

// What a call reads and makes, in words; the maker is a link.
const flowOf = ({ lines, idOf }) => (lines.length === 0 ? null : make("ul", { class: "flow" }, lines.map((line) => make("li", {}, line.before,
  line.maker ? make("a", { href: "#", class: "jump", "data-to": idOf(line.maker), onclick: jump }, place(line.maker)) : null, line.after))));

// The calls that made what a call reads stand out while the pointer or the keyboard is at it, as do the lines to them.
const showMakers = (event) => {
  const call = event.currentTarget;
  const isShown = event.type === "mouseenter" || event.type === "focusin";
  for (const id of call.dataset.makers.split(" ")) byId(id)?.classList.toggle("maker", isShown);
  call.classList.toggle("reader", isShown);
  for (const path of call.closest(".alignment")?.querySelectorAll(".flow-lines path") ?? []) if (path.dataset.reader === call.id) path.classList.toggle("shown", isShown);
};
const MAKERS = { onmouseenter: showMakers, onmouseleave: showMakers, onfocusin: showMakers, onfocusout: showMakers };

// Lines from calls to those that read what they made: outside of the columns, where no other lines are.
const drawFlow = () => document.querySelectorAll(".alignment.flows").forEach((all) => {
  const [lines, box] = [all.querySelector(".flow-lines"), all.getBoundingClientRect()];
  lines.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  const readers = [...all.querySelectorAll("[data-makers]")];
  lines.replaceChildren(...readers.flatMap((reader) => reader.dataset.makers.split(" ").map(byId).filter(Boolean).map((maker, lane) => {
    const isRight = reader.closest(".side").classList.contains("prediction") && all.classList.contains("sides2");
    const [a, b] = [maker.getBoundingClientRect(), reader.getBoundingClientRect()];
    const [x, out] = isRight ? [Math.max(a.right, b.right) - box.left, 1] : [Math.min(a.left, b.left) - box.left, -1];
    const [y1, y2] = [a.top - box.top + a.height / 2, b.top - box.top + Math.min(b.height / 2, 24) + 4 * lane];
    const bend = x + out * Math.min(22, 12 + Math.abs(y2 - y1) / 60);
    return [draw("path", { d: `M${x} ${y1}C${bend} ${y1} ${bend} ${y2} ${x + out * 2} ${y2}`, "data-reader": reader.id }), draw("path", { d: `M${x + out * 6} ${y2 - 4}L${x} ${y2}L${x + out * 6} ${y2 + 4}`, "data-reader": reader.id })];
  }).flat()));
});

const LABELS = [["reference", "reference"], ["prediction", "prediction"], ["difference", "difference"]];

// Pictures of both sides, and where they differ.
const trio = (found) => {
  const shown = LABELS.filter(([name]) => found[name]);
  return shown.length === 0 ? null : make("div", { class: "trio" }, shown.map(([name, label]) => make("div", {}, make("p", { class: "step-title" }, label), figure(found[name]))));
};

const resultTexts = ([own, given]) => {
  if (own === "" && given === "") return null;
  const text = (label, words) => make("div", {}, make("p", { class: "step-title" }, label), words === "" ? make("p", { class: "note" }, "no text") : make("pre", { dir: "auto" }, words));
  return make("div", { class: "texts" }, own === given ? text("both", own) : [text("reference", own), text("prediction", given)]);
};

const toolAt = (side, { step, call }) => side?.steps?.[step]?.[call]?.tool;

// What compared calls returned.
const resultsBeside = (of) => {
  const results = of.flow?.results ?? [];
  if (results.length === 0) return null;
  return section("Results", make("ul", { class: "results plain" }, results.map((pair) => {
    const tool = toolAt(of.reference, pair.reference);
    return make("li", {}, make("details", { class: pair.differs ? "result differs" : "result", open: pair.differs || pair.pictures.length > 0 },
      make("summary", {}, `${place(pair.reference)} → ${place(pair.predicted)} `, tool ? told(tool) : null, `: ${pair.words}`), pair.pictures.map(trio), resultTexts(pair.texts)));
  })));
};

// The pictures and files that nothing reads any more: what the user gets.
const leftBehind = (of) => {
  const left = of.flow?.left;
  if (!left) return null;
  return section(left.heading.replace(/^l/, "L"), make("ul", { class: "results plain" }, left.lines.map((line) => make("li", {}, make("p", {}, line.words), trio(line.pictures)))));
};

// A match whose arguments are compared with another call than the alignment's.
const comparedWith = (match, side) => {
  if (!match?.compared_with) return null;
  const jumpTo = make("a", { href: "#", class: "jump", "data-to": `prediction-${match.compared_with.index}`, onclick: jump }, place(match.compared_with));
  return side === "reference" ? make("p", { class: "partner" }, "arguments compared with ", jumpTo, ` (${match.argument_fidelity >= SAME ? "asks for the same" : "nearest in what it asks for"}; the alignment has ${place(match.predicted)})`) : null;
};

// A call that the alignment leaves unmatched, but whose arguments are compared nevertheless.
const furtherPair = (score, side, index) => {
  const own = side === "reference" ? "reference" : "predicted";
  const other = side === "reference" ? "predicted" : "reference";
  const pair = (score?.further_pairs ?? []).find((found) => found[own].index === index);
  if (!pair) return null;
  const jumpTo = make("a", { href: "#", class: "jump", "data-to": `${side === "reference" ? "prediction" : "reference"}-${pair[other].index}`, onclick: jump }, place(pair[other]));
  return make("p", { class: "partner" }, "arguments compared with ", jumpTo, ` nevertheless, fidelity ${fixed(pair.argument_fidelity)}`);
};
