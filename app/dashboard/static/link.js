// A link to the page as it is now: its address has what was chosen.

const here = document.getElementById("here");

document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-copy=here]")) return;
  here.textContent = location.href;
  here.hidden = Boolean(navigator.clipboard); // without one it is to be seen, as it is selected
}, true); // before it is copied
