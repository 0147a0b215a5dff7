// The dependencies of calls as a drawing: a column for each step, an edge for each value that is used.
const NODE = { width: 176, height: 46, gap: 18 };
const COLUMN = 176 + 146;
const MARGIN = 12;
const TITLE = 26;
const LANE = 24;

const short = (text, length) => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);
const ends = (text, length) => {
  if (text.length <= length) return text;
  const start = Math.ceil((length - 1) / 2);
  return `${text.slice(0, start)}…${text.slice(text.length - (length - 1 - start))}`;
};

// How wide a text is, in pixels; letters of some scripts are twice as wide as others.
const canvas = document.createElement("canvas").getContext("2d");
const wide = (text, font) => {
  canvas.font = font;
  return canvas.measureText(text).width;
};
const fonts = () => {
  const family = getComputedStyle(document.body).fontFamily;
  return { place: `12px ${family}`, name: `13px ${family}`, label: '12px ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace' };
};
// Both ends of a text, as much as fits.
const fitted = (text, width, font) => {
  let length = Math.min(text.length, 60);
  while (length > 2 && wide(ends(text, length), font) > width) length -= 1;
  return ends(text, length);
};

// A label stands where no other stands: at its place, or a line above or below.
const free = (taken, x, y, width) => {
  for (const offset of [0, -17, 17, -34, 34, -51, 51]) {
    const found = y + offset;
    if (taken.every((box) => Math.abs(box.x - x) > (box.width + width) / 2 || Math.abs(box.y - found) > 16)) {
      taken.push({ x, y: found, width });
      return found;
    }
  }
  return y;
};

// `steps` are lists of calls with their numbers and tools; `links` say which uses what of which.
const graph = (steps, links) => {
  const font = fonts();
  const places = new Map();
  steps.forEach((calls, step) => calls.forEach((call, row) => {
    const [x, y] = [MARGIN + step * COLUMN, MARGIN + TITLE + row * (NODE.height + NODE.gap)];
    places.set(call.call, { x, y, step, row, call });
  }));
  const rows = Math.max(...steps.map((calls) => calls.length));
  let bottom = MARGIN + TITLE + rows * (NODE.height + NODE.gap);
  const edges = draw("g", { class: "edges" });
  const labels = draw("g", { class: "labels" });
  const taken = [];
  const drawn = links.filter((link) => places.has(link.from) && places.has(link.to));
  // Those that end at one call end at different heights.
  const arrivals = new Map();
  for (const link of drawn) {
    const [from, to] = [places.get(link.from), places.get(link.to)];
    const count = drawn.filter((other) => other.to === link.to).length;
    const turn = arrivals.get(link.to) ?? 0;
    arrivals.set(link.to, turn + 1);
    const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
    const [x2, y2] = [to.x, to.y + (NODE.height * (turn + 1)) / (count + 1)];
    const more = link.values.length > 1 ? ` +${link.values.length - 1}` : "";
    const text = fitted(link.values[0].value, 126 - wide(more, font.label), font.label) + more;
    const width = wide(text, font.label) + 10;
    let path;
    let at;
    if (to.step - from.step > 1) {
      // Below the calls of the steps between.
      const lane = bottom;
      bottom += LANE;
      const [turn1, turn2] = [x1 + 24, x2 - 24];
      path = `M${x1} ${y1}C${turn1} ${y1} ${x1} ${lane} ${turn1 + 20} ${lane}L${turn2 - 20} ${lane}C${x2} ${lane} ${turn2} ${y2} ${x2} ${y2}`;
      at = [(x1 + x2) / 2, lane];
    } else {
      const bend = (x2 - x1) * 0.45;
      path = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
      at = [(x1 + x2) / 2, (y1 + y2) / 2];
    }
    const y = free(taken, at[0], at[1], width);
    const whole = draw("title", {});
    whole.textContent = link.values.map((value) => value.value).join("\n");
    edges.append(draw("path", { d: path, "data-link": `${link.from}-${link.to}` }));
    edges.append(draw("path", { class: "tip", d: `M${x2 - 8} ${y2 - 5}L${x2} ${y2}L${x2 - 8} ${y2 + 5}` }));
    const label = draw("text", { x: at[0], y });
    label.textContent = text;
    labels.append(draw("g", {}, whole, draw("rect", { x: at[0] - width / 2, y: y - 9, width, height: 18, rx: 4 }), label));
  }
  const nodes = draw("g", { class: "nodes" });
  steps.forEach((calls, step) => {
    const title = draw("text", { class: "column", x: MARGIN + step * COLUMN, y: MARGIN + 8 });
    title.textContent = `Step ${step + 1}`;
    nodes.append(title);
  });
  for (const { x, y, step, row, call } of places.values()) {
    const whole = draw("title", {});
    whole.textContent = `${call.tool} ${short(call.arguments, 500)}`;
    const place = draw("text", { class: "place", x: x + 9, y: y + 16 });
    const [server, tool] = call.tool.includes("/") ? call.tool.split(/\/(.*)/s) : ["", call.tool];
    const number = `${step + 1}.${row + 1} `;
    place.textContent = number + fitted(server, NODE.width - 18 - wide(number, font.place), font.place);
    const name = draw("text", { x: x + 9, y: y + 34 });
    name.textContent = fitted(tool, NODE.width - 18, font.name);
    nodes.append(draw("g", { "data-call": call.call }, whole, draw("rect", { x, y, width: NODE.width, height: NODE.height, rx: 6 }), place, name));
  }
  const [width, height] = [2 * MARGIN + (steps.length - 1) * COLUMN + NODE.width, bottom + MARGIN];
  return draw("svg", {
    class: "graph", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Calls by step, and ${drawn.length === 1 ? "one dependency" : `${drawn.length} dependencies`} between them; the list below says the same.`,
  }, edges, nodes, labels);
};

// Places and tools of calls by their numbers.
const namesOf = (steps) => new Map(steps.flatMap((calls, step) => calls.map((call, row) => [call.call, `${step + 1}.${row + 1} ${call.tool}`])));

// The same in words.
const linkList = (steps, links) => {
  const names = namesOf(steps);
  const entry = (link) => link.values.map((value) => make("li", {},
    `${names.get(link.to) ?? "a removed call"} uses `, make("code", {}, value.value),
    ` (${value.in_arguments || "its arguments"}) of ${names.get(link.from) ?? "a removed call"}`,
    value.in_result ? ` (${value.in_result})` : ""));
  return make("ul", { class: "plain links" }, links.flatMap(entry));
};
