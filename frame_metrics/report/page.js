for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const key = (row) => row.cells[at].dataset.value, text = (row) => row.cells[at].textContent;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = (a, b) => key(a) !== undefined && key(b) !== undefined
        ? key(a) - key(b) : text(a).localeCompare(text(b));
      const last = (row) => head.className === "number" && key(row) === undefined;
      const rows = [...body.rows].sort((a, b) => last(a) - last(b) || (down ? -order(a, b) : order(a, b)));
      body.append(...rows);
    });
  });
}
// Chromium repeats the head of a table on each page only if it holds no buttons.
const heads = () => [...document.querySelectorAll("thead th")].filter((head) => head.querySelector("button"));
const kept = new Map();
addEventListener("beforeprint", () => heads().forEach((head) => {
  const button = head.querySelector("button");
  kept.set(head, button);
  button.replaceWith(...[...button.childNodes].map((node) => node.cloneNode(true)));
}));
addEventListener("afterprint", () => kept.forEach((button, head) => head.replaceChildren(button)));
