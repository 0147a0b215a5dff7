// The page that shows two trajectories of one task, without saying which is which.
const WORD = "judged";
const KEYS = { 1: "left", 2: "right", 0: "tie" };
const WORDS = { left: "Left is better", right: "Right is better", tie: "Neither is better" };

const load = async () => (await ask(`api/pairs?${query()}`)).chosen;

const first = unsaid;

const choose = async (place, choice) => {
  const answer = await ask("api/prefer", { place, name: person(), choice, note: byId("note").value });
  say(WORDS[choice]);
  return answer.chosen;
};

const side = (title, steps) => make("section", { class: "side", "aria-label": title }, make("h3", {}, title),
  steps.length === 0 ? make("p", { class: "note" }, "No calls.") : null,
  steps.map((calls, index) => make("div", { class: "step" }, make("h4", {}, `Step ${index + 1}`), calls.map((call) => make("div", { class: "call" },
    make("p", { class: "call-head" }, make("span", { class: "tool" }, call.tool)),
    make("pre", { class: "arguments" }, make("code", {}, pretty(call.arguments))),
    call.result === null ? null : make("details", {}, make("summary", {}, "Result"), make("pre", { class: "passage" }, call.result)))))));

const show = async (place) => {
  const pair = await ask(`api/pair?place=${place}&${query()}`);
  const note = make("textarea", { id: "note", rows: 2, maxlength: 4000, placeholder: "Note (optional)", "aria-label": "Note" });
  note.value = pair.note ?? "";
  return [
    make("h2", { tabindex: -1 }, "Which trajectory is better?"),
    make("p", { class: "note" }, "More faithful to the question, with sound steps and no needless calls."),
    task(pair, `image/${pair.index}`,
      ...(pair.reply === null ? [] : [make("h3", {}, "Answer of both"), make("p", { class: "passage", dir: "auto" }, pair.reply)])),
    make("div", { class: "sides" }, side("Left", pair.left), side("Right", pair.right)),
    note,
    choices(place, ["1", "2", "0"], (choice) => WORDS[choice], (choice) => ({ "data-choice": choice })),
    neighbours(),
  ];
};

const percent = (share) => `${(100 * share).toFixed(2)} %`;

const counts = (title, found) => make("tr", {}, make("th", { scope: "row" }, title),
  [found.reconstructed, found.original, found.ties].map((count) => make("td", { class: "amount" }, String(count))),
  make("td", { class: "amount" }, found.share === null ? "none" : percent(found.share)),
  make("td", { class: "amount" }, found.interval === null ? "none" : found.interval.map(percent).join(" to ")));

const end = async () => {
  const summary = await ask(`api/end?${query()}`);
  const heads = ["", "reconstructed", "original", "tie", "share of reconstructed", "95 % interval"];
  return [
    make("h2", { tabindex: -1 }, "All pairs are judged"),
    make("div", { class: "scroll" }, make("table", {},
      make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col", class: head && "amount" }, head)))),
      make("tbody", {}, counts("you", summary.own), counts(`all ${summary.people} people`, summary.all)))),
    make("p", { class: "note" }, "Ties are left out of the share. The interval is Wilson's, as if no judgement depended on another one."),
    again(),
  ];
};

start();
