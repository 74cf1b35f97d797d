// What is taken from a figure: its numbers as a table, and the picture with title and caption.

import { plain } from "./figures.js";

const WIDE = 900; // pixels of a picture
const FINE = 2; // times as many in a PNG
const KEPT_MS = 60_000; // what is saved, until the browser has written it

function tableOf({ columns, rows }) {
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const name of columns) {
    const cell = document.createElement("th");
    cell.textContent = plain(String(name));
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const value of row) line.insertCell().textContent = plain(String(value));
  }
  return table;
}

function fill(card) {
  const details = card.querySelector("[data-table]");
  if (details?.open && card.shown) details.querySelector(".scroll").replaceChildren(tableOf(card.shown.layout.meta.table));
}

// The policy lets no image come from a blob, which is where plotly takes its own PNG from: so the browser is given
// the SVG as data.
async function painted(svg, { width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [FINE * width, FINE * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

async function save(card, format) {
  if (!card.shown) return;
  const { data, layout } = card.shown;
  const size = { width: WIDE, height: layout.height };
  const address = await Plotly.toImage({ data, layout: { ...layout, ...size } }, { format: "svg", ...size });
  const svg = decodeURIComponent(address.slice(address.indexOf(",") + 1));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(format === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await painted(svg, size));
  link.download = `${card.dataset.study}-${card.dataset.figure}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}

document.addEventListener("drawn", ({ target }) => fill(target));
document.addEventListener("toggle", ({ target }) => {
  if (target.matches("[data-table]")) fill(target.closest("[data-figure]"));
}, true); // it does not bubble
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-save]");
  if (button) save(button.closest("[data-figure]"), button.dataset.save);
});
