// SPDX-License-Identifier: Apache-2.0
// The page: what is shown, in which order.
import "./style.css";
import { h } from "./dom.js";
import { join } from "./model.js";
import { overview } from "./overview.js";
import { accuracy } from "./accuracy.js";
import { bars } from "./bars.js";
import { timeline } from "./timeline.js";
import { graph } from "./graph.js";
import { flash, memory, peak } from "./memory.js";
import { tables } from "./tables.js";

const kTheme = "deuteron-theme";

function theme_button() {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const set = (theme) => {
    root.dataset.theme = theme;
    window.dispatchEvent(new Event("themechange"));
  };
  try {
    const kept = localStorage.getItem(kTheme);
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch { /* a page from a file may have no storage */ }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => window.dispatchEvent(new Event("themechange")));
  return h("button", { type: "button", class: "theme", title: "light or dark", "aria-label": "light or dark", onclick: () => {
    set(dark() ? "light" : "dark");
    try { localStorage.setItem(kTheme, root.dataset.theme); } catch { /* the same */ }
  } }, "◐");
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const m = join(data);
  const name = (data.model || (data.trace && data.trace.file) || "program").split("/").slice(-2).join("/");
  document.title = `${name} · Deuteron`;
  const drawing = graph(m);
  const select = (id) => {
    if (!drawing.element) return;
    drawing.select(id);
    document.getElementById("graph").scrollIntoView({ behavior: "smooth", block: "nearest" });
  };
  const side = (...list) => (list.some(Boolean) ? h("div", { class: "side" }, list.filter(Boolean)) : null);
  const pair = (a, b) => (a && b ? h("div", { class: "pair" }, a, b) : a || b);
  const sections = [overview(m), accuracy(m, select), pair(bars(m, select), drawing.element), timeline(m, select), pair(memory(m), side(flash(m), peak(m))), tables(m, select)].filter(Boolean);
  const links = [["overview", "Overview"], ["accuracy", "Accuracy"], ["bars", "Operators"], ["graph", "Graph"], ["timeline", "Timeline"], ["memory", "Memory"], ["flash", "Flash"], ["tables", "Tables"]];
  const facts = [data.target, data.cpu, data.program_id ? `program ${data.program_id}` : "", data.trace ? data.trace.file : data.report && data.report.program].filter(Boolean);
  const app = document.getElementById("app");
  app.append(
    h("header", { class: "top" }, h("div", {}, h("h1", {}, name), h("p", { class: "sub" }, facts.join("  ·  "))), theme_button()),
    h("main", {}, sections),
    h("footer", {}, `deuteron ${data.version || ""}. Contains elkjs (Eclipse Public License 2.0) and uPlot (MIT).`));
  const present = links.filter(([id]) => document.getElementById(id));
  app.querySelector(".top").after(h("nav", { "aria-label": "sections" }, present.map(([id, label]) => h("a", { href: `#${id}` }, label))));
}

start();
