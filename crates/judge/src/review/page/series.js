// What the pages share that show pairs one after the other: where a person is, what was said of each pair, keys, the end.
// A page defines `WORD` (labelled, judged), `KEYS` (names of choices by key), `load` (what was said of each pair so far),
// `first` (the pair to begin with), `choose` (sends a choice), `show` (a pair) and `end` (what follows the last one).
let said = [];
let open = 0;

const query = () => `name=${encodeURIComponent(person())}`;

// The first pair of which nothing was said; -1 where there is none.
const unsaid = () => said.indexOf(null);

const progress = () => {
  const done = said.filter((choice) => choice !== null).length;
  byId("count").textContent = `Pair ${Math.min(open + 1, said.length)} of ${said.length}; ${done} ${WORD} by you`;
};

// Opens a pair; a negative number opens the end.
const go = async (place) => {
  try {
    const parts = place < 0 ? await end() : await show(place);
    open = place < 0 ? said.length : place;
    progress();
    detail.replaceChildren(...parts);
    window.scrollTo(0, 0);
    fail("");
  } catch (thrown) { fail(reason(thrown)); }
};

// Says something of the open pair, and goes on to the next one of which nothing was said.
const decide = async (choice) => {
  try {
    said = await choose(open, choice);
    const next = said.findIndex((known, place) => known === null && place > open);
    await go(next >= 0 ? next : unsaid());
  } catch (thrown) { fail(reason(thrown)); }
};

const choices = (place, keys, text, attributes) => make("div", { class: "choices" }, keys.map((key) => make("button", {
  type: "button", "aria-pressed": String(said[place] === KEYS[key]), onclick: () => decide(KEYS[key]), ...attributes(KEYS[key]),
}, `${text(KEYS[key])} `, make("kbd", {}, key))));

const neighbours = () => make("p", { class: "actions" },
  make("button", { type: "button", onclick: () => go(Math.max(open - 1, 0)) }, "Previous ", make("kbd", {}, "k")), " ",
  make("button", { type: "button", onclick: () => go(Math.min(open + 1, said.length - 1)) }, "Next ", make("kbd", {}, "j")));

const again = () => make("p", { class: "actions" }, make("button", { type: "button", onclick: () => go(0) }, "Look at them again"));

const start = async () => {
  try {
    said = await load();
    await go(first());
    document.documentElement.dataset.ready = "true";
  } catch (thrown) { fail(reason(thrown)); }
};

onKeys((event) => {
  if (KEYS[event.key] && open < said.length) decide(KEYS[event.key]);
  else if (event.key === "j" && open + 1 < said.length) go(open + 1);
  else if (event.key === "k" && open > 0) go(open - 1);
  else return false;
  return true;
});
byId("name").addEventListener("change", () => start());
