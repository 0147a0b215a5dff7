// Controls, links and pictures without a name, and ids that stand more than once. Run as the body of a function.
const named = (element) => element.getAttribute("aria-label") || element.textContent.trim()
  || element.alt || element.closest("label")?.textContent.trim()
  || element.getAttribute("aria-hidden") === "true";
const all = document.querySelectorAll("a, button, input, select, textarea, img, svg, nav, [role=region]");
const nameless = [...all].filter((element) => !named(element)).map((element) => element.outerHTML);
const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
return [...nameless, ...ids.filter((id, index) => ids.indexOf(id) !== index)];
