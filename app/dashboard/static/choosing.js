// Trials that are chosen in a table stay chosen: the address has them, and so have the links to other pages of it.

function choose(box) {
  const address = new URL(location);
  const chosen = new Set(address.searchParams.getAll("trials").join(",").split(",").filter(Boolean));
  if (box.checked) chosen.add(box.value);
  else chosen.delete(box.value);
  if (chosen.size > Number(box.dataset.choose)) {
    box.checked = false;
    document.getElementById("said").textContent = `At most ${box.dataset.choose} trials are compared.`;
    return;
  }
  const listed = [...chosen].sort((one, other) => one - other).join(",");
  keep(address, listed);
  history.replaceState(null, "", address);
  for (const link of document.querySelectorAll("a[data-keeps]")) {
    const target = new URL(link.href);
    keep(target, listed);
    link.href = target.search;
  }
}

function keep(address, listed) {
  if (listed) address.searchParams.set("trials", listed);
  else address.searchParams.delete("trials");
}

document.addEventListener("change", (event) => {
  if (event.target.matches("input[data-choose]")) choose(event.target);
});

// Columns as usual need no place in the address.
document.addEventListener("submit", (event) => {
  const usual = event.target.querySelectorAll("input[data-usual]");
  if (usual.length && [...usual].every((box) => box.checked === box.defaultChecked)) {
    for (const box of usual) box.disabled = true;
    setTimeout(() => usual.forEach((box) => { box.disabled = false; }));
  }
});
