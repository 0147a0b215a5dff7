// Tables are sorted by their heads: numbers by value, names as people count.
"use strict";
const number = (text) => (text.trim() === "" ? NaN : Number(text.replace("\u2212", "-").replaceAll(",", "").replace(/^[<>] /, "")));
// What has no number comes last, whichever way.
const compare = (a, b, sign) => {
  const [x, y] = [number(a), number(b)];
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return sign * (Number.isNaN(x) ? a.localeCompare(b, "en", { numeric: true }) : x - y);
};
for (const head of document.querySelectorAll("thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sort";
  button.textContent = head.textContent;
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") === "ascending" || (head.classList.contains("amount") && !head.hasAttribute("aria-sort"));
    const [table, index] = [head.closest("table"), head.cellIndex];
    for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const text = (row) => row.cells[index]?.textContent ?? "";
    const rows = [...table.tBodies[0].rows].sort((a, b) => compare(text(a), text(b), falling ? -1 : 1));
    table.tBodies[0].append(...rows);
  });
}
