// Copying. Browsers have the clipboard on https and on this machine only; elsewhere the text is selected.

import { say } from "./words.js";

const COPIED_MS = 2000;

// What is too long for the page is asked for when it is copied.
async function fetched(button) {
  const told = button.querySelector("span");
  const before = told.dataset.before ??= told.textContent;
  try {
    const answer = await fetch(button.dataset.copyFrom);
    if (!answer.ok) throw new Error(answer.statusText);
    await navigator.clipboard.writeText(await answer.text());
    told.textContent = "Copied";
  } catch {
    told.textContent = "Cannot be copied here: save it";
  }
  say(told.textContent);
  setTimeout(() => { told.textContent = before; }, COPIED_MS);
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const told = button.querySelector("span");
  const before = told.dataset.before ??= told.textContent;
  try {
    await navigator.clipboard.writeText(source.textContent);
    told.textContent = "Copied";
  } catch {
    source.closest("details")?.setAttribute("open", "");
    getSelection().selectAllChildren(source);
    told.textContent = "Selected: press Ctrl+C";
  }
  say(told.textContent);
  setTimeout(() => { told.textContent = before; }, COPIED_MS);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button);
  const far = event.target.closest("button[data-copy-from]");
  if (far) fetched(far);
});

// What needs scripts is hidden until they run.
export function enable(within) {
  for (const element of within.querySelectorAll("[data-scripted]")) element.hidden = false;
}
