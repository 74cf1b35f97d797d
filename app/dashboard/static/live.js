// What is new comes by itself: the parts of the page that may change are made like those of the page as it is now.

import { enable } from "./copying.js";
import { adopt, draw, seen } from "./figures.js";
import { morph } from "./morph.js";
import { paced } from "./paced.js";
import { hold } from "./rows.js";
import { follow } from "./stream.js";
import { tellTimes } from "./times.js";
import { clock, sayLive } from "./words.js";

const POLL_MS = 5000;

const main = document.getElementById("main");
const place = { after: Number(main.dataset.after ?? 0) };
const redraw = paced(() => Promise.all([...seen].map(draw)));

// Brings the page up to date; says whether it could. `isWhole` lets in new rows too.
async function renew(isWhole = false) {
  let fresh;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return false;
    fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return false;
  }
  const now = fresh.getElementById("main");
  place.after = Math.max(place.after, Number(now.dataset.after ?? 0));
  main.toggleAttribute("data-moving", now.hasAttribute("data-moving"));
  tellTimes(fresh);
  enable(fresh);
  if (fresh.querySelector("[data-figure]") && !document.querySelector("[data-figure]")) await begin(fresh, now);
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(part.id);
    if (!next) continue;
    if (!isWhole) hold(part, next);
    morph(part, next);
  }
  redraw();
  return true;
}

// The first result: now there are figures, and what draws them.
async function begin(fresh, now) {
  for (const { src } of [...fresh.querySelectorAll("script[defer]")]) {
    const script = document.createElement("script");
    await new Promise((resolve, reject) => {
      Object.assign(script, { src, onload: resolve, onerror: reject });
      document.head.append(script);
    });
  }
  morph(main, now.cloneNode(true));
  adopt(main);
}

export const ask = paced(() => renew());

function tell(events) {
  const { trial } = main.dataset; // a page of one is not renewed for the others
  if (events.some((event) => trial === undefined || event.trial === null || event.trial === Number(trial))) ask();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-insert]");
  if (!button) return;
  button.disabled = true;
  const part = document.getElementById(button.dataset.insert);
  await renew(true);
  part.querySelector("[tabindex]")?.focus(); // as the button is gone
});

// A page that no study alone is on has no stream.
async function poll() {
  let since = null;
  while (main.hasAttribute("data-moving")) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (document.hidden) continue;
    if (await renew()) since = null;
    else since ??= new Date();
    if (since) sayLive("off", `Offline since ${clock(since)}, retrying`);
    else sayLive("polling", "Polling every 5 s");
  }
  sayLive("", "");
}

if (main.dataset.events) follow(main.dataset.events, place, { tell, renew });
else if (main.hasAttribute("data-moving")) {
  sayLive("polling", "Polling every 5 s");
  poll();
}
