// Which page is shown stands in the address; this shows it, keeps the place of the reader, and looks for news.
const POLL = 2000;
const VIEWS = [
  [/^$/, (parameters) => (isAlone ? onlyView(parameters) : homeView(parameters))], [/^board$/, boardView], [/^matrix$/, matrixView],
  [/^run\/([^/]*)$/, runView],
  [/^task\/([^/]*)\/([^/]*)(?:\/(\d+))?(?:\/(\d+))?$/, (parameters, run, id, repeat, copy) => taskView(parameters, run, id, [Number(repeat ?? 1), copy && Number(copy)])],
  [/^references\/([^/]*)$/, referencesView],
  [/^reference\/([^/]*)\/([^/]*)(?:\/(\d+))?(?:\/(\d+))?$/, (parameters, file, id, repeat, copy) => taskView(parameters, file, id, [Number(repeat ?? 1), copy && Number(copy)], ["references", "reference"])],
  [/^tasks\/([^/]*)$/, tasksView],
  [/^compare\/([^/]*)\/([^/]*)$/, compareView],
];
const name = document.title;
let shown = null;
let turn = 0;
// Where the runs were when the page last asked.
let moved = null;

// Goes to a page; empty parameters are left out.
const go = (path, parameters = {}) => {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined)).toString();
  location.hash = `#/${path}${query ? `?${query}` : ""}`;
};

// Waits until nothing is typed for a moment.
const later = (work) => {
  let waiting;
  // Who has gone on to another page in the meantime is not called back.
  return (event) => { const at = shown?.path; clearTimeout(waiting); waiting = setTimeout(() => { if (at === shown?.path) work(event); }, 250); };
};

const decoded = (text) => {
  try { return decodeURIComponent(text); } catch { return text; }
};

const pageOf = (hash) => {
  // A page with one run is linked to by the ids of its tasks too.
  if (isAlone && /^#[^/]/.test(hash)) return [hash, async () => taskView(new URLSearchParams(), (await kept("home.json")).runs[0].name, hash === "#!" ? "" : decoded(hash.slice(1)), [1])];
  const [path, query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const found = VIEWS.map(([pattern, view]) => [pattern.exec(path), view]).find(([match]) => match);
  return found ? [path, () => found[1](new URLSearchParams(query), ...found[0].slice(1).map((part) => (part === undefined ? part : decoded(part))))] : null;
};

// Shows the page of the address. The reader stays in the field, and where the page was scrolled to, if it is the same page.
const show = async () => {
  turn += 1;
  const mine = turn;
  const main = byId("main");
  main.setAttribute("aria-busy", "true");
  try {
    const found = pageOf(location.hash);
    if (!found) throw new Error("There is no such page.");
    const [path, view] = found;
    const made = await view();
    if (mine !== turn) return;
    const [isSame, before] = [shown?.path === path, shown?.hash];
    const focused = isSame ? document.activeElement : null;
    const [filter, sorted] = [focused?.dataset?.filter, focused?.dataset?.sort];
    const [start, end] = filter === "q" ? [focused.selectionStart, focused.selectionEnd] : [];
    const typed = filter === "q" ? focused.value : null;
    const scroll = [window.scrollX, window.scrollY];
    const rows = () => main.querySelector("[data-rows] tbody")?.childElementCount ?? 0;
    const shownRows = isSame ? rows() : 0;
    main.replaceChildren(...made.parts.flat(Infinity).filter((part) => part));
    shown = { ...made, path, hash: location.hash };
    document.title = visible(`${made.title} · ${name}`);
    for (const link of document.querySelectorAll("header nav a")) link.toggleAttribute("aria-current", link.getAttribute("href") === `#/${path}`);
    if (isSame) {
      // As many rows as before, or there is nothing to scroll to.
      for (const more = main.querySelector(".more"); more && !more.hidden && rows() < shownRows;) more.click();
      const again = filter ? main.querySelector(`[data-filter="${filter}"]`) : sorted ? main.querySelector(`[data-sort="${CSS.escape(sorted)}"]`) : null;
      if (typed !== null && again) again.value = typed;
      again?.focus();
      if (start !== undefined && again?.setSelectionRange) again.setSelectionRange(start, end);
      window.scrollTo(...scroll);
    } else {
      window.scrollTo(0, 0);
      // Who comes back is where they left.
      const left = [...main.querySelectorAll("[data-rows] tbody th a")].find((link) => link.getAttribute("href") === before);
      if (left) left.focus();
      else if (turn > 1) main.querySelector("h2")?.focus({ preventScroll: true });
    }
    made.drawn?.();
    fail("");
    document.documentElement.dataset.ready = location.hash || "#/";
  } catch (thrown) {
    if (mine === turn) {
      shown = null;
      main.replaceChildren(make("h2", { tabindex: -1 }, "Nothing to show"));
      fail(thrown.message);
      document.documentElement.dataset.ready = "failed";
    }
  } finally {
    main.removeAttribute("aria-busy");
  }
};

// The row that has the focus moves down or up.
const step = (direction) => {
  if (shown?.next || shown?.previous) {
    const to = direction > 0 ? shown.next : shown.previous;
    if (to) location.hash = to;
    return;
  }
  const main = byId("main");
  const links = [...(main.querySelector("[data-rows]") ?? main).querySelectorAll("tbody th a")];
  if (links.length === 0) return;
  const at = links.indexOf(document.activeElement);
  links[Math.min(Math.max(at + direction, 0), links.length - 1)].focus();
};

onKeys((event) => {
  if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "/" && shown?.search) shown.search.focus();
  else if (event.key === "u" && shown?.up) location.hash = shown.up;
  else if (event.key === "?") byId("help").showModal();
  else return false;
  return true;
});

// Asks what has changed; the page of what changed is shown anew. A task stays as it is while somebody reads it.
const poll = async () => {
  try {
    const state = await get("state.json");
    const running = state.runs.filter((run) => run.progress?.is_running);
    byId("live").hidden = running.length === 0;
    const [done, of] = ["done", "of"].map((key) => running.reduce((sum, run) => sum + run.progress[key], 0));
    byId("live").textContent = `${plural(running.length, "run")} in progress: ${grouped(done)} of ${plural(of, "task")}`;
    const progress = JSON.stringify(state.runs);
    const isMoved = progress !== moved;
    moved = progress;
    if (isMoved) known.delete("home.json");
    if (state.revision !== revision || (isMoved && shown?.path === "")) {
      revision = state.revision;
      if (!/^(tasks?|reference)\//.test(shown?.path ?? "")) await show();
    }
    if (byId("failure").textContent.startsWith("m3 does not answer")) fail("");
  } catch (thrown) { fail(thrown.message); }
  setTimeout(poll, POLL);
};

// On paper everything is open, and the columns have a width of their own, so that lines drawn now fit there too.
let unfolded = [];
window.addEventListener("beforeprint", () => {
  const main = byId("main");
  for (const more of main.querySelectorAll(".more")) while (!more.hidden) more.click();
  unfolded = [...main.querySelectorAll("details:not([open])")];
  for (const folded of unfolded) folded.open = true;
  main.classList.add("printing");
  drawAll();
});
window.addEventListener("afterprint", () => {
  for (const folded of unfolded) folded.open = false;
  byId("main").classList.remove("printing");
  drawAll();
});

document.querySelector("header nav").hidden = isAlone;
// Within a frame of a notebook a link would be one of the page around it.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#/"]');
  if (!isAlone || !link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  location.hash = link.getAttribute("href");
});
byId("keys").addEventListener("click", () => byId("help").showModal());
window.addEventListener("hashchange", show);
// Lines are drawn once for all that moves calls in a frame.
let isWaiting = false;
const redraw = () => {
  if (isWaiting || !shown?.drawn) return;
  isWaiting = true;
  requestAnimationFrame(() => { isWaiting = false; shown?.drawn?.(); });
};
window.addEventListener("resize", redraw);
document.addEventListener("toggle", redraw, true);
document.addEventListener("load", redraw, true);

(async () => {
  try {
    const home = await get("home.json");
    revision = home.revision;
    await show();
    if (home.is_live) setTimeout(poll, POLL);
  } catch (thrown) { fail(thrown.message); }
})();
