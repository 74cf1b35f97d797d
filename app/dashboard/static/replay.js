// The slider below a landscape: the study as it was after so many trials. It moves when a person moves it.

import { frame, moment, remember, seen, show } from "./figures.js";

const POSITIONS = 60; // at most, over a study
const STEP_MS = 1000 / 14;
const still = matchMedia("(prefers-reduced-motion: reduce)");
let finished = 0;
let turn = 0; // of playing; another one begins, or none goes on

function step() {
  return Math.max(Math.ceil(finished / POSITIONS), 1);
}

function part(name) {
  return document.querySelector(`.replay [data-${name}]`);
}

// The positions are every so many trials; the last is the study as it is.
function fit() {
  const slider = part("after");
  slider.step = step();
  slider.max = Math.ceil(finished / step()) * step();
  slider.value = moment.after ?? slider.max;
  const words = moment.after === null ? "as it is now" : `after ${moment.after} of ${finished} trials`;
  part("moment").textContent = words;
  slider.setAttribute("aria-valuetext", words);
  part("play").hidden = still.matches; // who wants no motion has the slider's own steps
}

function replayed() {
  return [...seen].filter((card) => "replayed" in card.dataset);
}

function go(after) {
  moment.after = after >= finished ? null : after;
  remember("after", moment.after);
  fit();
  return Promise.all(replayed().map(show));
}

async function play() {
  const mine = turn += 1;
  part("play").textContent = "Pause";
  for (let after = moment.after ?? 0; mine === turn && after < finished;) {
    const begun = performance.now();
    after += step();
    const next = after + step();
    if (next < finished) for (const card of replayed()) frame(card, next).catch(() => {}); // show tells of it
    await go(after);
    await new Promise((done) => { setTimeout(done, STEP_MS - (performance.now() - begun)); });
  }
  if (mine === turn) pause();
}

function pause() {
  turn += 1;
  part("play").textContent = "Play";
}

document.addEventListener("drawn", ({ target: card }) => {
  if (!card.querySelector(".replay")) return;
  finished = card.shown.layout.meta.finished;
  fit();
});
document.addEventListener("input", ({ target }) => {
  if (!target.matches(".replay [data-after]")) return;
  pause();
  go(Number(target.value));
});
document.addEventListener("click", ({ target }) => {
  const button = target.closest(".replay [data-play]");
  if (!button) return;
  if (button.textContent === "Play") play();
  else pause();
});
still.addEventListener("change", () => {
  if (!part("play")) return;
  pause();
  fit();
});
