// The list of references beside the one that is open: search, states, how many findings each has.
const [list, search, state, count] = ["list", "search", "state", "count"].map(byId);
let references = [];
let sequence = 0;

const badge = (name) => make("span", { class: `badge ${name}` }, name);

// A reference whose findings have not been counted has no mark of them yet.
const marks = (reference) => [reference.findings > 0 ? make("span", { class: "badge found" }, `${reference.findings} found`) : null, " ", badge(reference.state)];

const row = (reference) => make("li", { "data-index": reference.index },
  make("button", { type: "button", class: "row", onclick: () => go(reference.index) },
    reference.has_image ? make("img", { class: "thumbnail", src: `image/${reference.index}?small`, alt: "", loading: "lazy", onerror: (event) => event.target.remove() }) : null,
    make("span", { class: "row-head" }, make("strong", {}, reference.id || "(empty id)"), make("span", { class: "marks" }, marks(reference))),
    make("span", { class: "row-question", dir: "auto" }, reference.question || reference.type || ""),
    reference.name ? make("span", { class: "row-by" }, `${reference.name}, ${when(reference.time)}`) : null));

const isListed = (reference) => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${reference.id}\n${reference.type}\n${reference.question}`.toLowerCase();
  const isInState = !state.value || (state.value === "found" ? reference.findings > 0 : reference.state === state.value);
  return isInState && words.every((word) => text.includes(word));
};

const listed = () => references.filter(isListed);

// The first reference from one on whose findings have not been counted; -1 without any.
const uncounted = (from = 0) => references.findIndex((reference, index) => index >= from && reference.findings === null);

const filter = () => {
  const found = new Set(listed().map((reference) => reference.index));
  for (const item of list.children) item.hidden = !found.has(Number(item.dataset.index));
  const decided = references.filter((reference) => reference.state !== "open").length;
  const isCounting = state.value === "found" && uncounted() >= 0;
  count.textContent = `${found.size} of ${references.length} references; ${decided} decided${isCounting ? "; still counting findings" : ""}`;
};

// Takes the rows that changed; the focus stays where it was.
const take = (answer) => {
  sequence = answer.sequence;
  for (const reference of answer.references) {
    const old = list.children[reference.index];
    const made = row(reference);
    references[reference.index] = reference;
    if (!old) list.append(made);
    else {
      const isFocused = old.contains(document.activeElement);
      old.replaceWith(made);
      if (isFocused) made.firstChild.focus({ preventScroll: true });
    }
  }
  mark();
  filter();
  onward();
};

const mark = () => {
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  if (open !== null) list.children[open]?.firstChild.setAttribute("aria-current", "true");
};

// Asks for the findings that have not been counted, some references at a time, because nobody else is answered
// meanwhile.
let isCountingFindings = false;
const countFindings = async () => {
  if (isCountingFindings) return;
  isCountingFindings = true;
  try {
    for (let from = uncounted(); from >= 0;) {
      const { counts, next } = await ask(`api/findings?from=${from}`);
      for (const [index, version, found] of counts) {
        const reference = references[index];
        // What was decided since is counted anew.
        if (reference.findings !== null || reference.version !== version) continue;
        reference.findings = found;
        list.children[index].querySelector(".marks").replaceChildren(...marks(reference).filter(Boolean));
      }
      from = next === null ? -1 : uncounted(next);
      if (state.value === "found") filter();
    }
  } catch (thrown) { fail(reason(thrown)); }
  isCountingFindings = false;
};

search.addEventListener("input", filter);
state.addEventListener("input", filter);
