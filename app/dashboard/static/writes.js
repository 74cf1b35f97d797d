// Forms that change something are sent from the page as it stands: nothing typed is lost, and nothing else moves.

import { ask } from "./live.js";
import { say } from "./words.js";

const SIGNED_OUT = "You are signed out. Sign in in another tab, then press again: what you typed is still here.";

const sending = new Set();

async function send(form, button) {
  const body = new URLSearchParams(new FormData(form, button));
  let answer, told;
  try {
    answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
    told = await answer.json();
  } catch {
    return refuse(form, "The server does not answer. What you typed is still here: press again.");
  }
  if (answer.status === 401) return refuse(form, SIGNED_OUT);
  if (!answer.ok) return refuse(form, told.detail);
  if (told.to) return location.assign(new URL(told.to, form.action));
  refuse(form, "");
  const panel = form.closest("details");
  if (panel) {
    panel.open = false;
    panel.querySelector("summary").focus();
    form.reset();
  }
  say(told.said);
  ask();
}

function refuse(form, why) {
  const line = form.querySelector(".wrong");
  line.textContent = why;
  line.hidden = !why;
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-write]");
  if (!form) return;
  event.preventDefault();
  if (sending.has(form)) return; // a second press while the first is under way does nothing
  sending.add(form);
  await send(form, event.submitter);
  sending.delete(form);
});

// A form that is opened has the focus at once; Escape closes it and leads back to its button.
document.addEventListener("click", (event) => {
  const panel = event.target.closest("details.action > summary")?.parentElement;
  if (!panel) return;
  event.preventDefault(); // what the browser would do comes after the next key
  panel.open = !panel.open;
  if (panel.open) panel.querySelector("input, textarea, button").focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const panel = document.querySelector("details.action[open]");
  if (!panel) return;
  panel.open = false;
  panel.querySelector("summary").focus();
});
