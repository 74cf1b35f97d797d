// What is new: parts of the page are replaced by themselves, unless somebody is in them.

import { enable } from "./copying.js";
import { draw, seen } from "./figures.js";
import { tellTimes } from "./times.js";

const EVERY_MS = 5000;

function isInUse(part) {
  const selection = getSelection();
  const isSelected = !selection.isCollapsed && part.contains(selection.anchorNode);
  return isSelected || part.contains(document.activeElement) || part.querySelector("details[open]") !== null;
}

async function renew() {
  if (document.hidden) return;
  let fresh;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) throw new Error(answer.status);
    fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    said("Offline, retrying");
    return;
  }
  said("Live");
  if (!fresh.querySelector("[data-figure]") !== !document.querySelector("[data-figure]")) {
    location.reload(); // the first result: now there are figures
    return;
  }
  let hasMoved = false;
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(part.id);
    if (!next || part.served === next.innerHTML) continue;
    hasMoved = true;
    if (isInUse(part)) continue;
    part.served = next.innerHTML;
    part.replaceChildren(...next.childNodes);
    tellTimes(part);
    enable(part);
  }
  if (hasMoved) seen.forEach(draw);
  if (!fresh.querySelector("main[data-moving]")) { // it is over
    clearInterval(renewing);
    said("");
  }
}

function said(word) {
  const status = document.getElementById("live");
  if (status.textContent !== word) status.textContent = word;
}

let renewing;
for (const part of document.querySelectorAll("[data-live]")) part.served = part.innerHTML;
if (document.querySelector("main[data-moving]")) {
  said("Live");
  renewing = setInterval(renew, EVERY_MS);
}
