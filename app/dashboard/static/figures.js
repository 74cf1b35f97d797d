// Figures. Each comes as what plotly draws, with an ETag; it is asked for again when the study has moved.

import { clock } from "./words.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
const settings = {
  displaylogo: false, responsive: true, showSendToCloud: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "toImage"], // page and card have their own
};

export const moment = { after: numberIn("after") }; // after how many trials; null as it is

function numberIn(name) {
  const said = new URLSearchParams(location.search).get(name);
  return /^\d{1,9}$/.test(said ?? "") ? Number(said) : null;
}

export function plain(html) {
  return new DOMParser().parseFromString(html, "text/html").body.textContent;
}

// The address is the state: a copied link shows the same. What is as usual is left out.
export function remember(name, value) {
  const address = new URL(location);
  if (value === null) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  history.replaceState(history.state, "", address);
}

function say(card, what, remedy) {
  const plot = card.querySelector(".plot");
  if (plot.data) Plotly.purge(plot);
  const line = document.createElement("p");
  const first = document.createElement("strong");
  first.textContent = what;
  line.append(first, remedy ? ` ${remedy}` : "");
  plot.replaceChildren(line);
  plot.setAttribute("aria-label", `${what} ${remedy ?? ""}`);
}

// What is drawn stays when a new one cannot be had, and says of when it is.
function keep(card, why) {
  if (!card.old) {
    card.old = document.createElement("p");
    card.old.className = "note old";
    card.querySelector("header").append(card.old);
  }
  card.old.textContent = `as of ${clock(card.at)}: ${why}`;
}

// What a legend takes more on a phone: the style sheet says it, and so where a page is narrow.
function legendRoom() {
  return parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--legend"));
}

// The card has the title and the caption, in letters that can be selected: they need no room in the figure. On a phone
// its legend gets two lines more, and its axes fewer ticks.
function fitted(layout) {
  const { title, margin, height, ...rest } = layout;
  const { head } = layout.meta; // pixels of both
  const legend = legendRoom();
  if (legend > 0) {
    for (const [name, axis] of Object.entries(rest)) {
      if (name.startsWith("xaxis") && axis.type !== "log") rest[name] = { ...axis, nticks: 4 };
    }
  }
  return { ...rest, height: height - head + legend, margin: { ...margin, t: margin.t - head, b: margin.b + legend } };
}

// What a mark says goes to the readout below the figure; a tooltip would hide its neighbours.
function quiet(traces) {
  return traces.map(({ hovertemplate, ...trace }) => (
    hovertemplate ? { ...trace, hoverinfo: "none", meta: hovertemplate } : trace
  ));
}

export function addressOf(card, after) {
  const query = new URLSearchParams(card.querySelector("form[data-choices]") ? chosen(card) : card.dataset.query);
  query.set("theme", dark.matches ? "dark" : "light");
  if (after !== null && "replayed" in card.dataset) query.set("after", after);
  return `${card.dataset.address}?${query}`;
}

async function asked(address, etag) {
  const answer = await fetch(address, { headers: etag ? { "If-None-Match": etag } : {} });
  const figure = answer.status === 304 ? null : await answer.json();
  return { ok: answer.ok, etag: answer.headers.get("ETag"), figure };
}

// A frame of a replay. It is kept until something happens in the study.
export function frame(card, after) {
  const address = addressOf(card, after);
  if (!card.frames.has(address)) {
    const coming = asked(address);
    card.frames.set(address, coming);
    coming.catch(() => card.frames.delete(address));
  }
  return card.frames.get(address);
}

async function drawOnce(card) {
  const plot = card.querySelector(".plot");
  const address = addressOf(card, moment.after);
  let answer;
  try {
    answer = await (moment.after === null ? asked(address, card.asked === address && card.etag) : frame(card, moment.after));
  } catch {
    if (plot.data) keep(card, "the server does not answer");
    else say(card, "The server does not answer.", "The figure comes when it is back.");
    return;
  }
  const { figure } = answer;
  if (figure && !answer.ok) {
    if (plot.data && card.asked === address) keep(card, figure.detail);
    else {
      [card.etag, card.shown] = [null, null];
      say(card, "There is no such figure.", figure.detail);
    }
    return;
  }
  card.at = new Date();
  card.old?.remove();
  card.old = null;
  if (figure === null || figure === card.shown) return; // nothing is new
  if (!plot.data) plot.replaceChildren();
  await Plotly.react(plot, quiet(figure.data), fitted(figure.layout), settings);
  [card.etag, card.asked, card.shown] = [answer.etag, address, figure];
  const { title, caption } = figure.layout.meta;
  plot.setAttribute("aria-label", `${title}. ${plain(caption)}`);
  card.querySelector("[data-caption]").textContent = plain(caption);
  card.dispatchEvent(new Event("drawn", { bubbles: true }));
}

// One at a time for each card, and of those that were asked for meanwhile the last.
export function show(card) {
  card.again = true;
  card.drawing ??= (async () => {
    try {
      while (card.again) {
        card.again = false;
        await drawOnce(card);
      }
    } finally {
      card.drawing = null;
    }
  })();
  return card.drawing;
}

export function draw(card) {
  card.frames.clear();
  return show(card);
}

function chosen(card) {
  return [...new FormData(card.querySelector("form"))].filter(([, value]) => value);
}

export const seen = new Set();
const watch = new IntersectionObserver((entries) => {
  for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
    watch.unobserve(target);
    seen.add(target);
    show(target);
  }
}, { rootMargin: "600px" });

// Draws the figures of a part of the page when they come near.
export function adopt(within) {
  for (const card of within.querySelectorAll("[data-figure]")) {
    card.frames = new Map();
    say(card, "", "Loading");
    watch.observe(card);
  }
}

adopt(document);

function drawAnew() {
  for (const card of seen) {
    [card.etag, card.shown] = [null, null]; // it is drawn anew, though nothing has happened
    show(card);
  }
}
dark.addEventListener("change", drawAnew);
let room = legendRoom();
addEventListener("resize", () => {
  if (room === legendRoom()) return;
  room = legendRoom();
  drawAnew();
});

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-choices]");
  if (!form) return;
  for (const field of form.elements) remember(field.name, field.value === field.dataset.usual ? null : field.value);
  show(form.closest("[data-figure]"));
});
