// Before plotly: it is to live with a policy that forbids styles in line. Its attributes go where the policy lets them,
// and the sheets that it writes stay inert: style.css has the rules that it needs.

const set = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === "style") this.style.cssText = value;
  else set.call(this, name, value);
};

const create = document.createElement.bind(document);
document.createElement = (name, ...more) => create(name === "style" ? "template" : name, ...more);
