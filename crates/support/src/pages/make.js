// What all pages share: elements made from texts, drawings, keys. A text stays text: nothing here makes markup from strings.
const byId = (id) => document.getElementById(id);

// Characters that hide, reorder or tag text are written out, so that no name can look like another.
const HIDDEN = /(?!\r\n)[\p{Cc}\p{Cf}\u2028\u2029](?<![\n\t])/gu;
const visible = (text) => String(text).replace(HIDDEN, (found) => `\\u{${found.codePointAt(0).toString(16)}}`);

// Attributes that people read.
const SAID = ["title", "alt", "aria-label", "placeholder"];

const furnish = (made, attributes, children) => {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : SAID.includes(key) ? visible(value) : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : visible(child))));
  return made;
};

// An element with attributes, listeners (`onclick`) and children.
const make = (name, attributes = {}, ...children) => furnish(document.createElement(name), attributes, children);

// An element of a drawing.
const draw = (name, attributes = {}, ...children) =>
  furnish(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

const isField = (target) => target.closest("input, select, textarea") !== null;

// Keys outside of fields and without a modifier; `handle` says whether a key was meant. Escape leaves a field.
const onKeys = (handle) => document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (!isField(event.target)) {
    if (handle(event)) event.preventDefault();
  } else if (event.key === "Escape") event.target.blur();
});

// What went wrong stands at the top of the page; an empty text takes it away. What happened is told to readers of screens.
const fail = (text) => {
  byId("failure").hidden = !text;
  byId("failure").textContent = text || "";
};
const say = (text) => { byId("said").textContent = text; };

document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
