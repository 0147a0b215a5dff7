// The page that shows two trajectories of one task, without saying which is which.
const KEYS = { 1: "left", 2: "right", 0: "tie" };
const WORDS = { left: "Left is better", right: "Right is better", tie: "Neither is better" };
let chosen = [];
let open = 0;

const query = () => `name=${encodeURIComponent(person())}`;

const progress = () => {
  const done = chosen.filter((choice) => choice !== null).length;
  byId("count").textContent = `Pair ${Math.min(open + 1, chosen.length)} of ${chosen.length}; ${done} judged by you`;
};

const choose = async (choice) => {
  try {
    const answer = await ask("api/prefer", { place: open, name: person(), choice, note: byId("note").value });
    chosen = answer.chosen;
    say(WORDS[choice]);
    const next = chosen.findIndex((known, place) => known === null && place > open);
    await go(next >= 0 ? next : chosen.indexOf(null));
  } catch (thrown) { fail(reason(thrown)); }
};

const go = async (place) => {
  try {
    if (place < 0) end(await ask(`api/end?${query()}`));
    else show(await ask(`api/pair?place=${place}&${query()}`), place);
    fail("");
  } catch (thrown) { fail(reason(thrown)); }
};

const side = (title, steps) => make("section", { class: "side", "aria-label": title }, make("h3", {}, title),
  steps.length === 0 ? make("p", { class: "note" }, "No calls.") : null,
  steps.map((calls, index) => make("div", { class: "step" }, make("h4", {}, `Step ${index + 1}`), calls.map((call) => make("div", { class: "call" },
    make("p", { class: "call-head" }, make("span", { class: "tool" }, call.tool)),
    make("pre", { class: "arguments" }, make("code", {}, pretty(call.arguments))),
    call.result === null ? null : make("details", {}, make("summary", {}, "Result"), make("pre", { class: "passage" }, call.result)))))));

const show = (pair, place) => {
  open = place;
  progress();
  const note = make("textarea", { id: "note", rows: 2, maxlength: 4000, placeholder: "Note (optional)", "aria-label": "Note" });
  note.value = pair.note ?? "";
  detail.replaceChildren(
    make("h2", { tabindex: -1 }, "Which trajectory is better?"),
    make("p", { class: "note" }, "More faithful to the question, with sound steps and no needless calls."),
    make("div", { class: "task" }, pair.image === null ? null : picture(`image/${pair.index}`, pair.image),
      make("div", {}, make("h3", {}, "Question"), make("p", { class: "passage", dir: "auto" }, pair.question ?? "No question is recorded."),
        ...(pair.reply === null ? [] : [make("h3", {}, "Answer of both"), make("p", { class: "passage", dir: "auto" }, pair.reply)]))),
    make("div", { class: "sides" }, side("Left", pair.left), side("Right", pair.right)),
    note,
    make("div", { class: "choices" }, ["1", "2", "0"].map((key) => make("button", {
      type: "button", "data-choice": KEYS[key], "aria-pressed": String(chosen[place] === KEYS[key]), onclick: () => choose(KEYS[key]),
    }, `${WORDS[KEYS[key]]} `, make("kbd", {}, key)))),
    make("p", { class: "actions" },
      make("button", { type: "button", onclick: () => go(Math.max(open - 1, 0)) }, "Previous ", make("kbd", {}, "k")), " ",
      make("button", { type: "button", onclick: () => go(Math.min(open + 1, chosen.length - 1)) }, "Next ", make("kbd", {}, "j"))));
  window.scrollTo(0, 0);
};

const percent = (share) => `${(100 * share).toFixed(2)} %`;

const counts = (title, found) => make("tr", {}, make("th", { scope: "row" }, title),
  [found.reconstructed, found.original, found.ties].map((count) => make("td", {}, String(count))),
  make("td", {}, found.share === null ? "none" : percent(found.share)),
  make("td", {}, found.interval === null ? "none" : found.interval.map(percent).join(" to ")));

const end = (summary) => {
  open = chosen.length;
  progress();
  const heads = ["", "reconstructed", "original", "tie", "share of reconstructed", "95 % interval"];
  detail.replaceChildren(make("h2", { tabindex: -1 }, "All pairs are judged"),
    make("div", { class: "scroll" }, make("table", { class: "numbers" },
      make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, counts("you", summary.own), counts(`all ${summary.people} people`, summary.all)))),
    make("p", { class: "note" }, "Ties are left out of the share. The interval is Wilson's, as if no judgement depended on another one."),
    make("p", { class: "actions" }, make("button", { type: "button", onclick: () => go(0) }, "Look at them again")));
};

const start = async () => {
  try {
    chosen = (await ask(`api/pairs?${query()}`)).chosen;
    await go(chosen.indexOf(null));
    document.documentElement.dataset.ready = "true";
  } catch (thrown) { fail(reason(thrown)); }
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (isField(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (KEYS[event.key] && open < chosen.length) choose(KEYS[event.key]);
  else if (event.key === "j" && open + 1 < chosen.length) go(open + 1);
  else if (event.key === "k" && open > 0) go(open - 1);
  else return;
  event.preventDefault();
});
byId("name").addEventListener("change", start);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
start();
