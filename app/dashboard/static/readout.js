// The strip below a figure: what is pointed at, by mouse, finger or keys.

import { plain } from "./figures.js";

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

// What plotly would have put into a tooltip.
function wordsOf({ data, text, hovertext, x, y }) {
  const said = { text: text ?? "", hovertext, x, y: typeof y === "number" ? Number(y.toPrecision(4)) : y };
  return plain((data.meta ?? "").replace(/<extra>.*/, "").replace(/%\{(\w+)[^}]*\}/g, (all, name) => said[name]));
}

function tell(card, words, aside = "") {
  const readout = card.querySelector(".readout");
  if (!readout || !words) return;
  const [before, trial, after] = words.split(/(trial \d+)(.*)/s);
  const link = document.createElement("a");
  if (trial) [link.href, link.textContent] = [card.dataset.trials + trial.slice("trial ".length), trial];
  readout.replaceChildren(before, ...(trial ? [link, after] : []), aside);
}

// The marks of finished trials by their number.
function marksOf(card) {
  const found = new Map();
  for (const { text, x, y } of card.shown.data) {
    if (!Array.isArray(text)) continue;
    text.forEach((words, at) => {
      const number = /^trial (\d+)/.exec(words)?.[1];
      if (number) found.set(Number(number), { words: plain(words), x: x[at], y: y[at] });
    });
  }
  return found;
}

function walkTo(card, place) {
  const { walk } = card.shown.layout.meta;
  const at = Math.min(Math.max(place, 0), walk.length - 1);
  const mark = (card.marks ??= marksOf(card)).get(walk[at]);
  card.walked = at;
  const rank = `, ${at + 1} of ${walk.length} by value`;
  tell(card, mark ? mark.words : `trial ${walk[at]} has no mark: one of these dimensions is inactive`, rank);
  point(card, mark);
}

function point(card, mark) {
  const plot = card.querySelector(".plot");
  plot.querySelector(".ring")?.remove();
  if (!mark) return;
  const { xaxis, yaxis } = plot._fullLayout;
  const ring = document.createElement("div");
  ring.className = "ring";
  ring.style.left = `${xaxis._offset + xaxis.d2p(mark.x)}px`;
  ring.style.top = `${yaxis._offset + yaxis.d2p(mark.y)}px`;
  plot.append(ring);
}

document.addEventListener("keydown", (event) => {
  if (!event.target.matches(".plot") || event.altKey || event.ctrlKey || event.metaKey) return;
  const card = event.target.closest("[data-figure]");
  const walk = card.shown?.layout.meta.walk;
  if (!walk?.length) return;
  const at = card.walked ?? -1;
  if (event.key in STEPS) walkTo(card, at < 0 ? 0 : at + STEPS[event.key]);
  else if (event.key === "Home") walkTo(card, 0);
  else if (event.key === "End") walkTo(card, walk.length - 1);
  else if (event.key === "Enter" && at >= 0) location.assign(card.dataset.trials + walk[at]);
  else return;
  event.preventDefault();
});

document.addEventListener("drawn", ({ target: card }) => {
  const plot = card.querySelector(".plot");
  [card.marks, card.walked] = [null, null];
  point(card, null);
  for (const event of ["plotly_hover", "plotly_click"]) { // by finger it is a click
    plot.removeAllListeners(event);
    plot.on(event, ({ points }) => tell(card, wordsOf(points[0])));
  }
});
