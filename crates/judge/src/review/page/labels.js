// The page that shows two calls of one tool side by side, to be labelled by how alike they are.
const WORD = "labelled";
const KEYS = { 1: "strong", 2: "medium", 3: "weak" };
const MEANINGS = {
  strong: "They ask for the same.",
  medium: "They ask for much the same, and one of them lacks something or says it otherwise.",
  weak: "They ask for different things.",
};

const load = async () => (await ask(`api/pairs?${query()}`)).labels;

const first = () => {
  const wanted = Number(location.hash.slice(1)) - 1;
  return said.length > 0 && wanted >= 0 && wanted < said.length ? wanted : unsaid();
};

const choose = async (index, label) => {
  await ask("api/label", { index, name: person(), label });
  say(`Labelled ${label}.`);
  return said.map((known, place) => (place === index ? label : known));
};

const side = (title, text) => make("section", { class: "side step", "aria-label": title },
  make("h3", {}, title), make("pre", { class: "call" }, make("code", {}, pretty(text))));

const show = async (index) => {
  const pair = await ask(`api/pair?index=${index}`);
  location.hash = String(index + 1);
  return [
    make("h2", { tabindex: -1 }, make("bdi", {}, pair.tool), make("small", {}, ` ${pair.id}`)),
    task(pair, `image/${pair.task}`),
    make("div", { class: "sides" }, side("Reference", pair.reference), side("Prediction", pair.predicted)),
    make("h3", {}, "How alike are these two calls?"),
    choices(index, Object.keys(KEYS), (label) => label, (label) => ({ "data-label": label, title: MEANINGS[label] })),
    make("dl", { class: "facts" }, Object.entries(MEANINGS).flatMap(([name, meaning]) => [make("dt", {}, name), make("dd", {}, meaning)])),
    neighbours(),
  ];
};

const end = async () => {
  const counted = Object.values(KEYS).map((name) => make("tr", {}, make("th", { scope: "row" }, name),
    make("td", { class: "amount" }, String(said.filter((known) => known === name).length))));
  return [make("h2", { tabindex: -1 }, "All pairs are labelled"), make("table", {}, make("tbody", {}, counted)), again()];
};

start();
