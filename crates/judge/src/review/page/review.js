// The page that shows references one by one: accept, edit, move, remove, reject, undo.
const POLL = 2000;
let open = null;
// The reference as the server told it last; its steps as they stand.
let shown = null;
// What is being written: the arguments of a call, by its number, "answer" or "new", a call.
let draft = null;
// Tools that may be called.
let tools = [];

// The next reference that nobody has decided on, from the one that is open.
const nextOpen = () => {
  const undecided = references.filter((reference) => reference.state === "open" && reference.index !== open);
  return [undecided.find((reference) => reference.index > open) ?? undecided[0], undecided.length];
};

// What comes next once a reference is decided: the next one or, after the last, the file to write.
const onward = () => {
  const place = byId("onward");
  if (!place || !shown) return;
  const [next, left] = nextOpen();
  const source = document.querySelector(".provenance").textContent;
  place.replaceChildren(...(shown.state === "open" ? [] : next
    ? [make("button", { type: "button", id: "next", onclick: () => go(next.index) }, `Next open reference, ${left} left `, make("kbd", {}, "n"))]
    : [make("p", { id: "done", role: "status" }, "All references are decided. ", make("code", {}, `m3 review ${source} --out reviewed.json`), " writes those that were accepted or edited; ",
      make("code", {}, "m3 score PREDICTIONS reviewed.json"), " scores against them.")]));
};

// Answers may come in another order than they were asked for: only the last one asked for is shown.
let turn = 0;

const isDirty = () => draft !== null || (byId("note")?.value ?? "").trim() !== "";

const mayLeave = () => window.confirm("What you are writing is not saved. Leave it?");

// A decision shows the reference anew: what is being written in it would be lost.
const mayDecide = () => draft === null || mayLeave();

const go = async (index) => {
  // What is open already stays, with what is being written.
  if (index === open && shown?.index === index) return;
  if (isDirty() && index !== open && !mayLeave()) return;
  turn += 1;
  const asked = turn;
  try {
    const answer = await ask(`api/reference?index=${index}`);
    if (asked !== turn) return;
    draft = null;
    open = index;
    location.hash = String(index);
    mark();
    list.children[index]?.scrollIntoView({ block: "nearest" });
    show(answer);
    if (matchMedia("(max-width: 860px)").matches) byId("main").scrollIntoView({ block: "start" });
    else byId("main").scrollTo(0, 0);
    say(`Opened: reference ${answer.id}`);
    fail("");
  } catch (thrown) { fail(reason(thrown)); }
};

const step = (by) => {
  const found = listed();
  if (found.length === 0) return;
  const at = found.findIndex((reference) => reference.index === open);
  const next = at < 0 ? (by > 0 ? 0 : found.length - 1) : Math.min(Math.max(at + by, 0), found.length - 1);
  go(found[next].index);
};

// Sends a decision on what is on the screen; the page then shows what the server says, unless the person has gone on to
// another reference. Returns what was refused, if anything.
const decide = async (action, focus) => {
  const sent = { index: shown.index, base: shown.version, name: person(), ...action };
  const isStill = () => shown.index === sent.index;
  try {
    const answer = await ask("api/decide", sent);
    if (isStill()) {
      draft = null;
      // A note that was sent is in the history now; any other is still being written.
      if (byId("note").value === sent.note) byId("note").value = "";
      show(answer, focus);
    }
    take(await ask(`api/changes?since=${sequence}`));
    fail("");
    return null;
  } catch (thrown) {
    if (!isStill()) {
      fail(`${references[sent.index].id}: ${reason(thrown)}`);
      return null;
    }
    if (thrown.status === 409) conflict(sent, thrown.data);
    else if (thrown.status !== 422 || !thrown.data.problems) fail(reason(thrown));
    return thrown.data ?? { error: reason(thrown) };
  }
};

// Somebody else was faster: what was decided here is kept in the file, set aside, and can be sent again.
const conflict = (sent, answer) => {
  const notice = make("div", { class: "notice", role: "alert", id: "conflict" },
    make("p", {}, `${answer.error}. Your decision was kept in the file, set aside, and does not count.`),
    make("p", { class: "actions" },
      make("button", { type: "button", onclick: () => { draft = null; show(answer.reference); } }, "Show theirs"),
      " ",
      make("button", { type: "button", onclick: () => {
        shown = answer.reference;
        const { index, base, name, ...action } = sent;
        // An answer is decided over theirs, and their calls stay.
        if (action.reply !== undefined) action.steps = arrangement();
        byId("conflict")?.remove();
        decide(action).then((refused) => { if (refused) fail(refused.error); });
      } }, sent.action === "undo" ? "Undo theirs" : "Decide mine over it")));
  byId("conflict")?.remove();
  detail.prepend(notice);
  notice.querySelector("button").focus();
  notice.scrollIntoView({ block: "nearest" });
};

const arrangement = () => shown.steps.map((calls) => calls.map((call) => ({
  call: call.call, ...(call.is_added ? { tool: call.tool } : {}), ...(call.is_changed ? { arguments: call.arguments } : {}),
})));

const edit = (steps, focus, more = {}) => decide({ action: "edit", steps, ...more }, focus);

// A refusal of a move or a removal stands at its call.
const refusedAt = (number, refused) => {
  if (!refused) return;
  const target = detail.querySelector(`[data-number="${number}"] .refusal`);
  if (!target) { fail(refused.error); return; }
  target.textContent = refused.error;
  target.hidden = false;
};

// One place earlier or later: out of a step that it shares, into the next one if it stands alone.
const move = async (number, by) => {
  if (!mayDecide()) return;
  const steps = arrangement();
  const at = steps.findIndex((calls) => calls.some((call) => call.call === number));
  const moved = steps[at].find((call) => call.call === number);
  if (steps[at].length > 1) {
    steps[at] = steps[at].filter((call) => call !== moved);
    steps.splice(by < 0 ? at : at + 1, 0, [moved]);
  } else {
    const next = steps[at + by];
    if (!next) { say("It cannot go further."); return; }
    next.push(moved);
    steps.splice(at, 1);
  }
  const refused = await edit(steps, number);
  refusedAt(number, refused);
  if (!refused) say("Moved.");
};

const remove = async (number) => {
  if (!mayDecide()) return;
  const steps = arrangement().map((calls) => calls.filter((call) => call.call !== number));
  const refused = await edit(steps);
  refusedAt(number, refused);
  if (!refused) say("Removed.");
};

const putBack = async (call) => {
  if (!mayDecide()) return;
  const steps = arrangement();
  const at = Math.min(call.was_in, steps.length);
  steps.splice(at, 0, [{ call: call.call }]);
  const refused = await edit(steps, call.call);
  if (refused) fail(refused.error);
};

const card = (call, place) => make("div", {
  class: `call${call.is_changed ? " changed" : ""}`, tabindex: 0, "data-number": call.call,
  "aria-label": `Call ${place}, ${call.tool}`,
},
make("p", { class: "call-head" },
  make("span", { class: "place" }, place), make("span", { class: "tool" }, call.tool),
  call.is_changed ? make("span", { class: "badge edited" }, call.is_added ? "added" : "edited") : null,
  make("span", { class: "tools" },
    make("button", { type: "button", class: "edit", disabled: !call.is_editable, onclick: () => startEdit(call.call) }, "Edit"),
    make("button", { type: "button", class: "earlier", "aria-label": "Move earlier", title: "Move earlier", onclick: () => move(call.call, -1) }, "↑"),
    make("button", { type: "button", class: "later", "aria-label": "Move later", title: "Move later", onclick: () => move(call.call, 1) }, "↓"),
    make("button", { type: "button", class: "remove", onclick: () => remove(call.call) }, "Remove"))),
make("p", { class: "refusal bad", role: "alert", hidden: true }),
make("pre", { class: "arguments" }, make("code", {}, pretty(call.arguments))),
call.problems.length > 0 ? make("ul", { class: "problems" }, problemList(call.problems)) : null,
call.remark ? make("p", { class: "note" }, call.remark) : null,
call.outcome && call.outcome !== "success" ? make("p", { class: "bad" }, `outcome: ${call.outcome}`) : null,
call.result !== null ? [call.result.text === "" ? null : make("details", {}, make("summary", {}, "Result"), make("pre", { class: "passage" }, call.result.text)),
  call.result.pictures.map((found) => picture(found.address, found.title, `a picture in the result of ${call.tool}`))]
  : make("p", { class: "note" }, call.is_added ? "No result: this call was never made." : call.is_changed ? "No result: these arguments were never sent." : "No result is recorded."));

// What is below a key stands a small step further in, however deep it is.
const tree = (value) => {
  if (typeof value === "string") return make("span", { class: "passage", dir: "auto" }, value);
  return make("dl", { class: "tree" }, value.map((branch) => make("div", { class: typeof branch.value === "string" ? "leaf" : "branch" },
    make("dt", {}, branch.key), make("dd", {}, tree(branch.value)))));
};

const decisionForm = () => {
  const note = make("textarea", { id: "note", rows: 2, maxlength: 4000, placeholder: "Note (a rejection needs one)", "aria-label": "Note" });
  const wrong = make("p", { class: "bad", role: "alert", hidden: true });
  const send = async (action) => {
    if (!mayDecide()) return;
    const refused = await decide({ action, ...(action === "undo" ? {} : { note: note.value }) });
    if (refused?.error && !byId("conflict")) {
      wrong.textContent = refused.error;
      wrong.hidden = false;
      fail("");
      note.focus();
    } else if (!refused) say({ accept: "Accepted.", reject: "Rejected.", undo: "Undone." }[action]);
  };
  return make("section", { class: "decide", "aria-label": "Decision" }, note, wrong, make("p", { class: "actions" },
    make("button", { type: "button", id: "accept", class: "primary", onclick: () => send("accept") }, "Accept ", make("kbd", {}, "a")), " ",
    make("button", { type: "button", id: "reject", class: "danger", onclick: () => send("reject") }, "Reject ", make("kbd", {}, "r")), " ",
    make("button", { type: "button", id: "undo", disabled: !shown.history.some((entry) => entry.counts), onclick: () => send("undo") }, "Undo ", make("kbd", {}, "u"))));
};

const history = () => make("ol", { class: "plain history" }, shown.history.map((entry) => make("li", { class: entry.counts ? "" : "undone" },
  make("strong", {}, entry.name), `, ${when(entry.time)}: ${entry.what}`,
  entry.set_aside ? " (set aside: somebody else was faster)" : entry.counts || entry.what.startsWith("undid") ? "" : " (undone)",
  entry.note ? make("blockquote", { class: "passage", dir: "auto" }, entry.note) : null)));

// What the checks found, each at its call if it has one.
const findings = () => {
  const names = namesOf(shown.steps);
  const at = ({ call }) => (names.has(call) ? [make("button", { type: "button", onclick: () => detail.querySelector(`[data-number="${call}"]`).focus() }, names.get(call)), " "] : null);
  return make("section", { id: "findings", "aria-label": "What the checks found" }, make("h3", {}, "What the checks found"),
    shown.findings.length === 0 ? make("p", { class: "note" }, "Nothing.") : make("ul", { class: "plain" }, problemList(shown.findings, at)),
    shown.more_findings > 0 ? make("p", { class: "note" }, `And ${shown.more_findings} more.`) : null);
};

// Shows a reference; the focus goes to a call, or to the answer, if one is named. A note that is being written stays
// with its reference.
const show = (answer, focus) => {
  const note = shown?.index === answer.index ? byId("note").value : "";
  shown = answer;
  const steps = answer.steps.map((calls, index) => make("section", { class: "step", "aria-label": `Step ${index + 1}` },
    make("h4", {}, `Step ${index + 1}`), calls.map((call, place) => card(call, `${index + 1}.${place + 1}`))));
  const title = make("h2", { tabindex: -1 }, make("bdi", {}, answer.id || "(empty id)"), " ", badge(answer.state),
    answer.type ? make("small", {}, ` ${answer.type}`) : null);
  const removed = answer.removed.map((call) => make("li", {}, make("span", { class: "tool" }, call.tool), " ",
    make("code", {}, call.arguments), " ", make("button", { type: "button", class: "back", onclick: () => putBack(call) }, "Put back")));
  detail.replaceChildren(title,
    task(answer, `image/${answer.index}`,
      make("section", { id: "answer", "aria-label": "Answer", tabindex: -1 }, make("div", { class: "call-head" }, make("h3", {}, "Answer"),
        answer.is_reply_changed ? make("span", { class: "badge edited" }, "edited") : null,
        make("button", { type: "button", class: "edit", disabled: answer.written_reply === null, onclick: editAnswer }, "Edit the answer")),
      make("p", { class: "passage", dir: "auto" }, answer.reply ?? "No answer."))),
    findings(),
    decisionForm(),
    make("div", { id: "onward", class: "actions" }),
    make("h3", {}, "Trajectory"),
    ...(answer.origin === null ? [] : [make("p", { class: "note", id: "origin" }, answer.origin)]),
    ...(answer.has_catalog ? [] : [make("p", { class: "note" }, "No catalog was given (--tools): arguments only have to be a JSON object.")]),
    ...(steps.length > 0 ? steps : [make("p", { class: "note" }, "No calls.")]),
    make("div", {}, make("button", { type: "button", id: "add", onclick: addCall }, "Add a call ", make("kbd", {}, "c"))),
    ...(removed.length > 0 ? [make("h3", {}, "Removed calls"), make("ul", { class: "plain removed" }, removed)] : []),
    make("h3", {}, "Dependencies"),
    ...(answer.links.length > 0 ? [] : [make("p", { class: "note" }, "No call uses what another one returned or wrote, as far as results, arguments and what the judge recorded show.")]),
    ...(steps.length === 0 ? [] : [make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Graph of calls" }, graph(answer.steps, answer.links))]),
    linkList(answer.steps, answer.links),
    make("h3", {}, "Evidence"),
    ...(answer.evidence.length > 0
      ? answer.evidence.map((found) => make("section", { class: "evidence" }, make("h4", {}, found.key), tree(found.value)))
      : [make("p", { class: "note" }, "The file says nothing of how this reference was made.")]),
    make("h3", {}, "Decisions"),
    answer.history.length > 0 ? history() : make("p", { class: "note" }, "Nobody has decided yet."));
  byId("note").value = note;
  onward();
  if (focus !== undefined) (focus === "answer" ? byId(focus) : detail.querySelector(`[data-number="${focus}"]`))?.focus();
};

// The version of which the person was told that somebody else has made it.
let told = null;

// Shows what others have made of the open reference, unless something is being written in it.
const follow = async () => {
  const before = shown;
  const newest = references[before?.index];
  // The list may also be older than what is shown.
  if (!newest || newest.index !== open || newest.version <= before.version) { told = null; return; }
  if (isDirty() || byId("conflict")) {
    if (told !== newest.version) fail(`${newest.name ?? "Somebody"} has changed this reference. What you are writing is still here.`);
    told = newest.version;
    return;
  }
  const answer = await ask(`api/reference?index=${open}`);
  // What has been shown since is as new, and may have the focus.
  if (answer.index !== open || shown !== before || isDirty()) return;
  show(answer);
  if (told !== null) fail("");
  told = null;
};

const poll = async () => {
  try {
    const answer = await ask(`api/changes?since=${sequence}`);
    if (answer.references.length > 0 || answer.sequence !== sequence) take(answer);
    await follow();
    if (byId("failure").textContent.startsWith("m3 does not answer")) fail("");
    countFindings();
  } catch (thrown) { fail(reason(thrown)); }
  setTimeout(poll, POLL);
};

// The call that has the focus, or something in it.
const focused = (event) => event.target.closest(".call");

document.addEventListener("keydown", (event) => {
  const direction = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!direction || !event.altKey || !focused(event) || isField(event.target)) return;
  event.preventDefault();
  move(Number(focused(event).dataset.number), direction);
});

onKeys((event) => {
  const call = focused(event);
  if (event.key === "/") search.focus();
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "n" && byId("next")) byId("next").click();
  else if (event.key === "a" && shown) byId("accept").click();
  else if (event.key === "r" && shown) byId("note").focus();
  else if (event.key === "u" && shown) byId("undo").click();
  else if (event.key === "c" && shown) addCall();
  else if (event.key === "e" && call) startEdit(Number(call.dataset.number));
  else if (event.key === "Delete" && event.target === call) remove(Number(call.dataset.number));
  else return false;
  return true;
});

window.addEventListener("beforeunload", (event) => { if (isDirty()) event.preventDefault(); });

(async () => {
  try {
    take(await ask("api/list"));
    ({ tools } = await ask("api/tools"));
    const wanted = Number(location.hash.slice(1));
    const first = references.find((reference) => reference.state === "open") ?? references[0];
    if (location.hash.length > 1 && references[wanted]) await go(wanted);
    else if (first) await go(first.index);
    document.documentElement.dataset.ready = "true";
    countFindings();
  } catch (thrown) { fail(reason(thrown)); }
  setTimeout(poll, POLL);
})();
