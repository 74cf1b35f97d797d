// Single keys. They do what some link or button of the page does; never in a field, and only while they are wanted.

import { say } from "./words.js";

const STORED = "thiessen.keys";
const BEGIN_MS = 1000; // for the second key after g
const FIELDS = "input:not([type=checkbox], [type=radio], [type=button], [type=submit]), textarea, select, [contenteditable]";

const map = document.getElementById("keys");
const asks = document.getElementById("asks");
const wanted = document.getElementById("keys-on");
let began = -Infinity; // when g was pressed

function press(selector) {
  const found = document.querySelector(selector);
  found?.click();
  return found !== null;
}

function search() {
  const field = document.querySelector("input[type=search], [data-search]");
  field?.focus();
  return Boolean(field);
}

// Asks before it presses a button: a single key is soon hit by chance.
function confirm(button) {
  if (!button) return false;
  const [yes] = asks.querySelectorAll("button");
  asks.querySelector("h2").textContent = `${button.textContent.trim()} this ${document.getElementById("main").dataset.thing ?? "study"}?`;
  yes.textContent = button.textContent.trim();
  asks.returnValue = "";
  asks.onclose = () => {
    const there = document.querySelector(`[data-keys="${button.dataset.keys}"][value="${button.value}"]`);
    if (asks.returnValue !== "yes") return;
    if (there) there.form.requestSubmit(there);
    else say("Meanwhile it has changed.");
  };
  asks.showModal();
  return true;
}

// To the next or the last row: the focus goes to its link, which Enter opens.
function walk(step) {
  const links = [...document.querySelectorAll("tbody[data-rows] tr")].map((row) => row.querySelector("a[href]")).filter(Boolean);
  if (!links.length) return false;
  const at = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1)];
  next.focus();
  return true;
}

function choose() {
  const box = document.activeElement?.closest("tr")?.querySelector("input[type=checkbox]");
  box?.click();
  return Boolean(box);
}

function show() {
  map.showModal();
  return true;
}

const KEYS = {
  "/": search,
  "?": show,
  c: () => press('[data-copy="best-JSON"], [data-copy="config-JSON"]'),
  p: () => confirm(document.querySelector('button[data-keys="p"]')),
  "[": () => press("a[rel=prev]"),
  "]": () => press("a[rel=next]"),
  j: () => walk(1),
  k: () => walk(-1),
  x: choose,
};

document.addEventListener("keydown", (event) => {
  if (!wanted.checked || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest?.(FIELDS) || document.querySelector("dialog[open]")) return;
  if (event.key === "g") {
    began = event.timeStamp;
    return;
  }
  const isSecond = event.timeStamp - began < BEGIN_MS;
  began = -Infinity;
  const hasDone = isSecond ? press(`a[data-keys="g ${CSS.escape(event.key)}"]`) : KEYS[event.key]?.();
  if (hasDone) event.preventDefault();
});

document.getElementById("keyboard").addEventListener("click", show);
try {
  wanted.checked = localStorage.getItem(STORED) !== "off";
  wanted.addEventListener("change", () => localStorage.setItem(STORED, wanted.checked ? "on" : "off"));
} catch {
  // this browser keeps nothing: they are on until the page is left
}
