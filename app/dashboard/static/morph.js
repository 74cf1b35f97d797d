// Makes what is on the page like what has come, and leaves alone what is the same in both: that keeps its focus, its
// selection, and what was typed into it.

const PERSONAL = new Set(["open"]); // attributes that a person changes

function key(node) {
  return node.id || node.dataset?.key || "";
}

function isSame(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName && key(one) === key(other);
}

function isAwaited(node, next) {
  for (let each = next.nextSibling; each; each = each.nextSibling) if (isSame(node, each)) return true;
  return false;
}

export function morph(old, next) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  if (old.matches("[data-figure], [data-own]")) return; // what scripts write themselves
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !PERSONAL.has(name)) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !PERSONAL.has(name)) old.removeAttribute(name);
  }
  let at = old.firstChild;
  const pass = () => {
    const passed = at;
    at = at.nextSibling;
    return passed;
  };
  for (const child of [...next.childNodes]) {
    while (at && !isSame(at, child) && !isAwaited(at, child)) pass().remove();
    if (at && isSame(at, child)) morph(pass(), child);
    else old.insertBefore(child, at);
  }
  while (at) pass().remove();
}
