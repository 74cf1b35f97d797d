// Tables that do not move under the eyes of who reads them: rows change in place, new ones wait for a press.

function rowsOf(body) {
  return new Map([...body.rows].map((row) => [row.dataset.key, row]));
}

function words(news, most, noun) {
  if (!news) return "Renew the list";
  const many = news === most ? `${news} or more` : news;
  return `${many} new ${noun}${news === 1 ? "" : "s"}`;
}

// Changes what has come: rows that are shown stay, where they are; in place of the others there is a button.
export function hold(part, next) {
  const [body, come] = [part, next].map((each) => each.querySelector("tbody[data-rows]"));
  if (!body || !come || !body.rows.length) return;
  const [shown, fresh] = [rowsOf(body), rowsOf(come)];
  const news = [...fresh.keys()].filter((key) => !shown.has(key)).length;
  if ([...shown.keys()].join() === [...fresh.keys()].join()) return;
  const most = fresh.size;
  come.replaceChildren(...[...shown].map(([key, row]) => fresh.get(key) ?? stale(row)));
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.insert = part.id;
  button.textContent = words(news, most, body.dataset.rows);
  next.querySelector("header h2").after(button); // between the title and what is at the right: neither moves
}

function stale(row) {
  const copy = row.cloneNode(true);
  copy.classList.add("stale");
  copy.title = "It is no longer on this page of the list, and may have changed.";
  return copy;
}
