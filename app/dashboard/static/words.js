// What the page says of itself: whether it is live, and what has just been done.

export function sayLive(kind, words) {
  const status = document.getElementById("live");
  status.dataset.kind = kind;
  if (status.textContent !== words) status.textContent = words; // read aloud only when it changes
}

const SAID_MS = 6000;
let saying;

export function say(words) {
  const place = document.getElementById("said");
  place.textContent = words;
  clearTimeout(saying);
  saying = setTimeout(() => place.replaceChildren(), SAID_MS);
}

export function clock(at) {
  return at.toLocaleTimeString("sv-SE", { hour: "2-digit", minute: "2-digit" });
}
