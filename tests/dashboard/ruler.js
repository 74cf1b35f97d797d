// What a ruler finds on a page: labels that are cut or lie over each other, and what is too low to be hit.
() => {
  const found = [], wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) found.push("the page scrolls sideways");

  for (const plot of document.querySelectorAll(".plot svg.main-svg")) {
    const box = plot.getBoundingClientRect();
    const labels = [...plot.querySelectorAll("text")]
      .map((each) => ({ said: each.textContent, at: each.getBoundingClientRect() }))
      .filter(({ said, at }) => said && at.width);
    for (const [place, { said, at }] of labels.entries()) {
      const isBeside = at.left < box.left - 2 || at.right > box.right + 2;
      if (isBeside || at.top < box.top - 3 || at.bottom > box.bottom + 3) found.push(`cut: ${said}`);
      for (const other of labels.slice(place + 1)) {
        const across = Math.min(at.right, other.at.right) - Math.max(at.left, other.at.left);
        const up = Math.min(at.bottom, other.at.bottom) - Math.max(at.top, other.at.top);
        if (across > 1 && up > 4) found.push(`one over the other: ${said} / ${other.said}`);
      }
    }
  }

  for (const part of document.querySelectorAll("h1, h2, h3, p, dt, dd, button, summary, label")) {
    const at = part.getBoundingClientRect();
    const mayScroll = part.closest(".scroll, .tabs, .skip") !== null;
    if (at.width && at.right > wide + 1 && !mayScroll) found.push(`beyond the edge: ${part.textContent}`);
  }

  for (const part of document.querySelectorAll("a, button, input, select, summary")) {
    const at = part.getBoundingClientRect();
    if (at.width && at.height < 16 && !part.matches(".unseen")) found.push(`too low to be hit: ${part.outerHTML}`);
  }
  return found;
}
