// What a person writes in the page of references: arguments of calls, answers, new calls.

const problemList = (problems, at = () => null) => problems.map((problem) => make("li", {}, at(problem),
  problem.pointer ? [make("code", {}, problem.pointer), ": "] : null, problem.message));

// Opens a text to be written in place of `place`, after other `fields`. `save` sends it and returns what was refused.
const write = (key, place, { label, text, fields = [], save }) => {
  if (draft === key || !mayDecide()) return;
  stopWriting();
  draft = key;
  const area = make("textarea", { ...(key === "answer" ? {} : { class: "code", spellcheck: "false" }), "aria-label": label, dir: "auto" });
  area.value = text;
  area.rows = Math.min(Math.max(text.split("\n").length + 1, 4), 24);
  const problems = make("ul", { class: "problems", role: "alert", id: "draft-problems" });
  area.setAttribute("aria-describedby", problems.id);
  const send = async () => {
    const refused = await save(area.value);
    if (!refused) { say("Saved."); return; }
    problems.replaceChildren(...problemList(refused.problems ?? [{ pointer: "", message: refused.error }]));
    area.setAttribute("aria-invalid", "true");
    area.focus();
  };
  const leave = () => {
    if (area.value !== text && !mayLeave()) return;
    stopWriting();
    (place.closest(".call") ?? place.parentElement.querySelector("button")).focus();
  };
  const form = make("div", { class: "draft", onkeydown: (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send(); }
    if (event.key === "Escape") { event.stopPropagation(); leave(); }
  } }, fields, area, problems, make("p", { class: "actions" },
    make("button", { type: "button", class: "primary save", onclick: send }, "Save ", make("kbd", {}, "Ctrl Enter")), " ",
    make("button", { type: "button", onclick: leave }, "Cancel ", make("kbd", {}, "Esc"))));
  place.hidden = true;
  place.after(form);
  form.querySelector("input, textarea").focus();
};

const stopWriting = () => {
  const form = detail.querySelector(".draft");
  if (form) { form.previousElementSibling.hidden = false; form.remove(); }
  draft = null;
};

const startEdit = (number) => {
  const place = detail.querySelector(`[data-number="${number}"] .arguments`);
  const call = shown.steps.flat().find((found) => found.call === number);
  if (!place || !call || !call.is_editable) return;
  write(number, place, { label: `Arguments of ${call.tool}, JSON`, text: pretty(call.arguments), save: (text) => {
    const steps = arrangement();
    for (const found of steps.flat()) if (found.call === number) found.arguments = text;
    return edit(steps, number);
  } });
};

const editAnswer = () => write("answer", byId("answer").querySelector(".passage"), {
  label: "Answer", text: shown.written_reply, save: (reply) => edit(arrangement(), "answer", { reply }),
});

// A call in a new step at the end, or in a step that is there.
const addCall = () => {
  const tool = make("input", { id: "tool", list: "tools", maxlength: 200, autocomplete: "off", spellcheck: "false" });
  const where = make("select", { id: "where" }, make("option", { value: shown.steps.length }, "a new step at the end"),
    shown.steps.map((_, index) => make("option", { value: index }, `Step ${index + 1}`)));
  write("new", byId("add"), {
    label: "Arguments, JSON", text: "{}",
    fields: [make("datalist", { id: "tools" }, tools.map((name) => make("option", { value: name }))),
      make("p", { class: "controls" }, make("label", {}, "Tool", tool), make("label", {}, "In", where))],
    save: (text) => {
      const call = Math.max(-1, ...[...shown.steps.flat(), ...shown.removed].map((known) => known.call)) + 1;
      const steps = [...arrangement(), []];
      steps[Number(where.value)].push({ call, tool: tool.value, arguments: text });
      return edit(steps, call);
    },
  });
};
