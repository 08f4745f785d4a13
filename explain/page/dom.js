// SPDX-License-Identifier: Apache-2.0
// Elements from values. Text is only ever set as text, never as markup: names come from the user's model.
const kSvg = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style" && typeof value === "object") for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) if (child !== undefined && child !== null && child !== false) element.append(child);
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(kSvg, tag), attributes, children);

export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
  return element;
}

export function section(id, title, subtitle, ...children) {
  return h("section", { id, class: "card" }, h("header", {}, h("h2", {}, title), subtitle ? h("p", { class: "sub" }, subtitle) : null), ...children);
}

// One choice of several; `change` is called with its key.
export function choice(label, options, selected, change) {
  const buttons = options.map(([key, text]) =>
    h("button", { type: "button", "data-key": key, "aria-pressed": String(key === selected), onclick: () => pick(key) }, text));
  const pick = (key) => {
    for (const b of buttons) b.setAttribute("aria-pressed", String(b.dataset.key === key));
    change(key);
  };
  return h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}

let bubble = null;
// A line or more of text beside the pointer. `lines` is called when it is wanted.
export function tip(element, lines) {
  const hide = () => { if (bubble) bubble.remove(); bubble = null; };
  const show = (event) => {
    hide();
    bubble = h("div", { class: "tip", role: "tooltip" }, lines().filter(Boolean).map((l, i) => h("div", { class: i ? "" : "tip-title" }, l)));
    document.body.append(bubble);
    const box = bubble.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
    const y = event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 10 : event.clientY + 18;
    bubble.style.left = `${Math.max(8, x)}px`;
    bubble.style.top = `${Math.max(8, y)}px`;
  };
  element.addEventListener("pointerenter", show);
  element.addEventListener("pointermove", show);
  element.addEventListener("pointerleave", hide);
  return element;
}
