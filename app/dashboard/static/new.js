// A new study: when a field is left, the server is asked what it makes of the form, and the fields that were
// in hand are told. Nothing is said while somebody types.

const form = document.getElementById("study");
const touched = new Set();
let turn = 0;

async function check() {
  const mine = ++turn;
  let fresh;
  try {
    const sent = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.dataset.check, { method: "POST", body: sent, headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return; // it is told when the form is sent
  }
  if (mine !== turn) return;
  for (const id of touched) {
    const [told, now] = [document.getElementById(`wrong-${id}`), fresh.getElementById(`wrong-${id}`)];
    if (!told || !now) continue;
    if (told.textContent !== now.textContent) told.textContent = now.textContent;
    const field = document.getElementById(id);
    if (now.textContent) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
  document.getElementById("consequence").textContent = fresh.getElementById("consequence").textContent;
}

form.addEventListener("input", ({ target }) => {
  if (target.id) touched.add(target.id);
});
form.addEventListener("focusout", ({ target }) => {
  if (touched.has(target.id)) check();
});
