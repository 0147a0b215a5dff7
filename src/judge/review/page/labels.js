// The page that shows two calls of one tool side by side, to be labelled by how alike they are.
const NAMES = { 1: "strong", 2: "medium", 3: "weak" };
const MEANINGS = {
  strong: "They ask for the same.",
  medium: "They ask for much the same, and one of them lacks something or says it otherwise.",
  weak: "They ask for different things.",
};
let labels = [];
let open = 0;

const progress = () => {
  const done = labels.filter((label) => label !== null).length;
  byId("count").textContent = `Pair ${Math.min(open + 1, labels.length)} of ${labels.length}; ${done} labelled by you`;
};

const label = async (name) => {
  try {
    await ask("api/label", { index: open, name: person(), label: name });
    labels[open] = name;
    say(`Labelled ${name}.`);
    const next = labels.findIndex((known, index) => known === null && index > open);
    await go(next >= 0 ? next : labels.indexOf(null));
  } catch (thrown) { fail(reason(thrown)); }
};

const go = async (index) => {
  if (index < 0) { end(); return; }
  try {
    show(await ask(`api/pair?index=${index}`), index);
    fail("");
  } catch (thrown) { fail(reason(thrown)); }
};

const side = (title, text) => make("section", { class: "side step", "aria-label": title },
  make("h3", {}, title), make("pre", { class: "call" }, make("code", {}, pretty(text))));

const show = (pair, index) => {
  open = index;
  location.hash = String(index + 1);
  progress();
  detail.replaceChildren(
    make("h2", { tabindex: -1 }, make("bdi", {}, pair.tool), make("small", {}, ` ${pair.id}`)),
    make("div", { class: "task" }, pair.image === null ? null : picture(`image/${pair.task}`, pair.image),
      make("div", {}, make("h3", {}, "Question"), make("p", { class: "passage", dir: "auto" }, pair.question ?? "No question is recorded."))),
    make("div", { class: "sides" }, side("Reference", pair.reference), side("Prediction", pair.predicted)),
    make("h3", {}, "How alike are these two calls?"),
    make("div", { class: "choices" }, Object.entries(NAMES).map(([key, name]) => make("button", {
      type: "button", "data-label": name, title: MEANINGS[name], "aria-pressed": String(labels[index] === name), onclick: () => label(name),
    }, `${name} `, make("kbd", {}, key)))),
    make("dl", { class: "tree" }, Object.entries(MEANINGS).flatMap(([name, meaning]) => [make("dt", {}, name), make("dd", {}, meaning)])),
    make("p", { class: "actions" },
      make("button", { type: "button", onclick: () => go(Math.max(open - 1, 0)) }, "Previous ", make("kbd", {}, "k")), " ",
      make("button", { type: "button", onclick: () => go(Math.min(open + 1, labels.length - 1)) }, "Next ", make("kbd", {}, "j"))));
  window.scrollTo(0, 0);
};

const end = () => {
  open = labels.length;
  progress();
  const counted = Object.values(NAMES).map((name) => make("tr", {}, make("th", { scope: "row" }, name),
    make("td", {}, String(labels.filter((known) => known === name).length))));
  detail.replaceChildren(make("h2", { tabindex: -1 }, "All pairs are labelled"),
    make("table", { class: "numbers" }, make("tbody", {}, counted)),
    make("p", { class: "actions" }, make("button", { type: "button", onclick: () => go(0) }, "Look at them again")));
};

const start = async () => {
  try {
    const answer = await ask(`api/pairs?name=${encodeURIComponent(person())}`);
    labels = answer.labels;
    const wanted = Number(location.hash.slice(1)) - 1;
    await go(labels.length > 0 && wanted >= 0 && wanted < labels.length ? wanted : labels.indexOf(null));
    document.documentElement.dataset.ready = "true";
  } catch (thrown) { fail(reason(thrown)); }
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
  if (NAMES[event.key] && open < labels.length) label(NAMES[event.key]);
  else if (event.key === "j" && open + 1 < labels.length) go(open + 1);
  else if (event.key === "k" && open > 0) go(open - 1);
  else return;
  event.preventDefault();
});
byId("name").addEventListener("change", start);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
start();
