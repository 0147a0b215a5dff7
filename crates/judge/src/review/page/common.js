// What the pages of `m3 review` share.
const detail = byId("detail");

const person = () => byId("name").value.trim();

// Asks the server. What it refuses is thrown with its status and answer.
const ask = async (path, body) => {
  const options = body === undefined
    ? {}
    : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(path, { cache: "no-store", ...options });
  } catch {
    throw { status: 0, data: { error: "m3 does not answer: it may have been ended. Nothing that was saved is lost." } };
  }
  let data = {};
  try { data = await response.json(); } catch { data = { error: `m3 answered with status ${response.status}` }; }
  if (!response.ok) throw { status: response.status, data };
  return data;
};

const reason = (thrown) => thrown?.data?.error ?? String(thrown);

// A picture, or why there is none.
const picture = (address, path, alt = "the image of the task") => {
  const figure = make("figure", { class: "picture" });
  const image = make("img", { alt, src: address, loading: "lazy" });
  image.addEventListener("error", () => {
    image.remove();
    figure.prepend(make("p", { class: "note" }, "The image is not shown: it is missing, no image, or outside of the image folders (--images)."));
  });
  figure.append(image, make("figcaption", {}, make("code", {}, path)));
  return figure;
};

// JSON with its lines and indents, for reading; as it is where it cannot be read.
const pretty = (text) => {
  // Numbers that a double cannot hold would be changed.
  if (/\d{16}/.test(text)) return text;
  try {
    // Lists of plain values stand on one line; a line break within a string is written as an escape.
    return JSON.stringify(JSON.parse(text), null, 2)
      .replace(/\[\n[^[\]{}]*\n\s*\]/g, (list) => (list.length > 400 ? list : list.replace(/\n\s*/g, " ").replace("[ ", "[").replace(/ \]$/, "]")));
  } catch { return text; }
};

// On paper everything is open.
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...detail.querySelectorAll("details:not([open])")];
  for (const folded of unfolded) folded.open = true;
});
window.addEventListener("afterprint", () => { for (const folded of unfolded) folded.open = false; });

const when = (time) => (time || "").replace("T", " ").replace("Z", " UTC");

// The picture and the question of a task, and what else is said of it.
const task = (of, address, ...more) => make("div", { class: "task" }, of.image === null ? null : picture(address, of.image),
  make("div", {}, make("h3", {}, "Question"), make("p", { class: "passage", dir: "auto" }, of.question ?? "No question is recorded."), ...more));
