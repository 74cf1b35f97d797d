// Figures. Each comes as what plotly draws, with an ETag; it is asked for again when the study has moved.

const dark = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("(max-width: 600px)");
const settings = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

function plain(html) {
  return new DOMParser().parseFromString(html, "text/html").body.textContent;
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

// The card has the title and the caption, in letters that can be selected: they need no room in the figure. On a phone
// its legend gets two lines more, and its axes fewer ticks.
function fitted(layout) {
  const { title, margin, height, ...rest } = layout;
  const { head } = layout.meta; // pixels of both
  const legend = narrow.matches ? 38 : 0;
  if (narrow.matches) {
    for (const [name, axis] of Object.entries(rest)) {
      if (name.startsWith("xaxis") && axis.type !== "log") rest[name] = { ...axis, nticks: 4 };
    }
  }
  return { ...rest, height: height - head + legend, margin: { ...margin, t: margin.t - head, b: margin.b + legend } };
}

export async function draw(card) {
  const plot = card.querySelector(".plot");
  const query = new URLSearchParams(card.dataset.figure === "landscape" ? chosen(card) : card.dataset.query);
  query.set("theme", dark.matches ? "dark" : "light");
  const address = `${card.dataset.address}?${query}`;
  const headers = card.etag && card.asked === address ? { "If-None-Match": card.etag } : {};
  const turn = card.turn = (card.turn ?? 0) + 1;
  let answer, figure;
  try {
    answer = await fetch(address, { headers });
    figure = answer.status === 304 ? null : await answer.json();
  } catch {
    if (!plot.data) say(card, "The server does not answer.", "The figure comes when it is back.");
    return;
  }
  if (turn !== card.turn || figure === null) return; // something else was chosen meanwhile, or nothing is new
  if (!answer.ok) {
    say(card, "There is no such figure.", figure.detail);
    return;
  }
  if (!plot.data) plot.replaceChildren();
  await Plotly.react(plot, figure.data, fitted(figure.layout), settings);
  [card.etag, card.asked] = [answer.headers.get("ETag"), address];
  const { title, caption } = figure.layout.meta;
  plot.setAttribute("aria-label", `${title}. ${plain(caption)}`);
  card.querySelector("[data-caption]").textContent = plain(caption);
}

function chosen(card) {
  return [...new FormData(card.querySelector("form"))].filter(([, value]) => value);
}

export const cards = [...document.querySelectorAll("[data-figure]")];
export const seen = new Set();
const watch = new IntersectionObserver((entries) => {
  for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
    watch.unobserve(target);
    seen.add(target);
    draw(target);
  }
}, { rootMargin: "600px" });
for (const card of cards) {
  say(card, "", "Loading");
  watch.observe(card);
}
for (const change of [dark, narrow]) {
  change.addEventListener("change", () => seen.forEach((card) => {
    card.etag = null; // it is drawn anew, though nothing has happened
    draw(card);
  }));
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-choices]");
  if (!form) return;
  const address = new URL(location);
  for (const [name, value] of new FormData(form)) address.searchParams.set(name, value);
  history.replaceState(null, "", address); // a copied link shows the same
  draw(form.closest("[data-figure]"));
});
