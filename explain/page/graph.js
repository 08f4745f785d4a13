// SPDX-License-Identifier: Apache-2.0
// The user's operators as a graph, laid out by elkjs, coloured by placement or by time.
import ELK from "elkjs/lib/elk.bundled.js";
import { choice, h, replace, section, svg, tip } from "./dom.js";
import { bytes, grouped, percent, plural, short, ticks } from "./numbers.js";
import { kPlaces, starred } from "./model.js";

const kHeight = 40;
const cut = (text, n) => (text.length > n ? `${text.slice(0, Math.ceil(n / 2) - 1)}…${text.slice(text.length - Math.floor(n / 2))}` : text);

function label_of(o) {
  return cut(o.name || `operator ${o.id}`, 26);
}

const pen = document.createElement("canvas").getContext("2d");
function text_width(text, font) {
  pen.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

// `room`: width and height that there is. A long chain becomes columns beside each other where they fit.
async function lay_out(operators, room) {
  const width = (o) => Math.ceil(Math.max(96, text_width(label_of(o), "600 12.5px"), text_width(second_line(o), "11.5px") + 52)) + 22;
  const wraps = operators.length > 10 && room.width > 640;
  const nodes = operators.map((o) => ({ id: `n${o.id}`, width: width(o), height: kHeight }));
  const edges = [];
  for (const o of operators)
    for (const from of new Set(o.inputs)) if (operators[from] && from !== o.id) edges.push({ id: `e${edges.length}`, sources: [`n${from}`], targets: [`n${o.id}`] });
  return new ELK().layout({
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered", "elk.direction": "DOWN", "elk.layered.spacing.nodeNodeBetweenLayers": "26", "elk.spacing.nodeNode": "22",
      "elk.layered.nodePlacement.strategy": operators.length > 80 ? "BRANDES_KOEPF" : "NETWORK_SIMPLEX", "elk.edgeRouting": "ORTHOGONAL", "elk.padding": "[top=12,left=12,bottom=12,right=12]",
      ...(wraps ? { "elk.layered.wrapping.strategy": "MULTI_EDGE", "elk.aspectRatio": String(room.width / room.height), "elk.layered.wrapping.additionalEdgeSpacing": "24" } : {}),
    },
    children: nodes,
    edges,
  });
}

const second_line = (o) => cut(o.short || "", 30);

export function graph(m) {
  const { operators } = m;
  if (!operators.length) return { element: null, select: () => {} };
  const has_time = operators.some((o) => o.share > 0);
  let mode = (m.measured || !m.placed) && has_time ? "time" : "placement", selected = -1;
  const view = svg("svg", { class: "graph-view", role: "img", "aria-label": "graph of the model's operators" });
  const box = h("div", { class: "graph-box", tabindex: 0 }, h("p", { class: "wait" }, "laying out …"));
  const details = h("aside", { class: "details", id: "details" });
  const largest = Math.max(...operators.map((o) => o.share), 1e-12);
  const heat = (o) => (o.share > 0 ? `color-mix(in oklab, var(--hot) ${Math.round(6 + 94 * (o.share / largest))}%, var(--cold))` : "var(--node)");
  const fill = (o) => (mode === "time" ? heat(o) : kPlaces[o.place].color);
  const strong = (o) => mode === "placement" ? o.place !== "none" && o.place !== "unknown" : o.share / largest > 0.45;
  const time_of = (o) => Object.entries(o.times).sort((a, b) => b[1].share - a[1].share)
    .map(([clock, t]) => `${ticks(t.ticks, m.trace ? m.trace.clocks[clock] : { unit: m.unit })} on the ${clock.toUpperCase()}, ${percent(t.share)}`).join("; ");
  const accuracy_of = (o) => {
    const row = ((m.report && m.report.accuracy) || []).find((r) => r.operators.includes(o.id));
    return row ? (row.sqnr_db === null ? "exact" : `${row.sqnr_db.toFixed(1)} dB`) : "";
  };
  const drawn = [];
  let frame = null, at = { x: 0, y: 0, k: 1 };

  const legend = h("div", { class: "legend" });
  const crossings = new Set();
  for (const o of operators)
    for (const i of o.inputs) {
      const a = operators[i];
      if (a && a.place !== "none" && o.place !== "none" && (a.place === "npu") !== (o.place === "npu")) crossings.add(`${i}-${o.id}`);
    }
  function colour() {
    for (const d of drawn) {
      d.rect.style.fill = fill(d.o);
      d.group.classList.toggle("strong", strong(d.o));
      d.group.classList.toggle("selected", d.o.id === selected);
      d.value.textContent = mode === "time" ? (d.o.share > 0 ? percent(d.o.share) : "") : "";
    }
    const places = Object.entries(kPlaces).filter(([key]) => operators.some((o) => o.place === key));
    replace(legend, mode === "placement"
      ? places.map(([, p]) => h("span", {}, h("i", { style: { background: p.color } }), p.label))
      : [h("span", {}, h("i", { style: { background: "var(--node)" } }), m.measured ? "no time" : "none"), h("span", {}, h("i", { class: "ramp" }), `up to ${percent(largest)}`)],
      crossings.size ? h("span", {}, h("i", { class: "crossing-mark" }), `${plural(crossings.size, "edge")} between CPU and NPU`) : null);
  }
  const apply = () => frame && frame.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${at.k})`);
  let size = { width: 1, height: 1 };
  // All of it, or as much as can be read.
  function fit(readable) {
    const w = box.clientWidth, hh = box.clientHeight, whole = Math.min(w / size.width, hh / size.height, 1.1);
    at = { k: readable === true ? Math.max(whole, Math.min(0.6, w / 240)) : whole, x: 0, y: 0 };
    at.x = size.width * at.k <= w ? (w - size.width * at.k) / 2 : 0;
    at.y = size.height * at.k <= hh ? (hh - size.height * at.k) / 2 : 0;
    if (size.width * at.k > w && operators.length) {  // begin where the model begins
      const d = drawn[0];
      at.x = Math.min(0, w / 2 - (d.x + d.w / 2) * at.k);
    }
    apply();
  }
  function centre(id) {
    const d = drawn.find((x) => x.o.id === id);
    if (!d) return;
    at.k = Math.max(at.k, 0.8);
    at.x = box.clientWidth / 2 - (d.x + d.w / 2) * at.k;
    at.y = box.clientHeight / 2 - (d.y + kHeight / 2) * at.k;
    apply();
  }
  const pane = h("div", { class: "graph-and-details" }, box, details);
  function select(id, move = true) {
    selected = id;
    colour();
    if (move) centre(id);
    show_details(operators[id]);
  }
  function show_details(o) {
    if (!o) {
      const npu = operators.some((x) => x.place === "npu");
      const kept = operators.filter((x) => x.reason && (npu ? x.place === "cpu" || x.place === "portable" : x.place === "portable"));
      pane.classList.toggle("whole", !kept.length);
      replace(details, kept.length ? [h("h3", {}, npu ? `Not on the NPU: ${kept.length}` : `In float: ${kept.length}`),
        h("ul", { class: "reasons" }, kept.slice(0, 40).map((x) => h("li", {}, h("button", { type: "button", style: { "--chip": kPlaces[x.place].color }, onclick: () => select(x.id) }, h("b", {}, x.name), h("span", {}, x.reason))))) ]
        : null);
      return;
    }
    pane.classList.remove("whole");
    const line = (label, value) => (value === undefined || value === "" || value === null ? null : [h("dt", {}, label), h("dd", {}, value)]);
    replace(details, h("h3", {}, o.name), m.placed ? h("span", { class: "chip", style: { "--chip": kPlaces[o.place].color } }, kPlaces[o.place].label) : null,
      h("dl", {}, line("operator", o.target), line("module", o.module), line("result", o.shape ? `${o.dtype || ""}[${o.shape.join(", ")}]` : ""),
        line("multiply-adds", o.macs ? grouped(o.macs) : ""),
        line(m.measured ? "time" : m.unit === "cycles" ? "predicted" : "in kernels", o.share > 0 ? `${time_of(o)}${o.shared ? " (together with others)" : ""}` : ""),
        line("accuracy so far", accuracy_of(o)), line("why", o.reason)),
      o.kernels.length ? h("table", { class: "small" }, h("thead", {}, h("tr", {}, ["kernel", "call", "predicted", "bytes"].map((t) => h("th", {}, t)))),
        h("tbody", {}, o.kernels.slice(0, 24).map((k) => h("tr", {}, h("td", {}, starred(`${k.kernel || "?"}${k.added ? " (added)" : ""}`, k)), h("td", {}, k.npu ? `${k.instruction}.${k.id}` : String(k.instruction)),
          h("td", {}, k.predicted_cycles === undefined ? "" : `${short(k.predicted_cycles)}`), h("td", {}, bytes(k.bytes)))))) : null);
  }
  function build(layout) {
    size = { width: layout.width, height: layout.height };
    const edges = layout.edges.map((e) => {
      const s = e.sections && e.sections[0];
      if (!s) return null;
      const points = [s.startPoint, ...(s.bendPoints || []), s.endPoint];
      const key = `${e.sources[0].slice(1)}-${e.targets[0].slice(1)}`;
      return svg("path", { class: crossings.has(key) ? "edge crossing" : "edge", d: `M${points.map((p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("L")}`, "marker-end": "url(#arrow)" });
    });
    const nodes = layout.children.map((n) => {
      const o = operators[Number(n.id.slice(1))];
      const rect = svg("rect", { width: n.width, height: n.height, rx: 7 });
      const value = svg("text", { class: "node-value", x: n.width - 9, y: 31, "text-anchor": "end" });
      const group = svg("g", { class: "node", transform: `translate(${n.x} ${n.y})`, "data-operator": o.id, "data-place": o.place, onclick: () => select(o.id, false) },
        rect, svg("text", { class: "node-name", x: 10, y: 17 }, label_of(o)), svg("text", { class: "node-op", x: 10, y: 31 }, second_line(o)), value);
      drawn.push({ o, rect, group, value, x: n.x, y: n.y, w: n.width });
      return tip(group, () => [o.name, o.target, kPlaces[o.place].label + (o.reason ? `: ${o.reason}` : ""), o.share > 0 ? time_of(o) : ""]);
    });
    frame = svg("g", {}, edges.filter(Boolean), nodes);
    replace(view, svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8z", class: "arrow" }))), frame);
    replace(box, view);
    box.classList.add("ready");
    colour();
    fit(true);
    show_details(null);
  }
  // Pan with one pointer, zoom with two or with the wheel.
  const pointers = new Map();
  let pinch = 0, moved = false;
  const zoom_at = (factor, x, y) => {
    const k = Math.min(3, Math.max(0.08, at.k * factor));
    at.x = x - ((x - at.x) * k) / at.k;
    at.y = y - ((y - at.y) * k) / at.k;
    at.k = k;
    apply();
  };
  box.addEventListener("pointerdown", (e) => { pointers.set(e.pointerId, e); moved = false; });
  box.addEventListener("pointermove", (e) => {
    const before = pointers.get(e.pointerId);
    if (!before) return;
    pointers.set(e.pointerId, e);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()], distance = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY), r = box.getBoundingClientRect();
      if (pinch) zoom_at(distance / pinch, (a.clientX + b.clientX) / 2 - r.left, (a.clientY + b.clientY) / 2 - r.top);
      pinch = distance;
      return;
    }
    const dx = e.clientX - before.clientX, dy = e.clientY - before.clientY;
    if (!moved && Math.hypot(dx, dy) < 2) return;
    if (!moved) box.setPointerCapture(e.pointerId);
    moved = true;
    at.x += dx;
    at.y += dy;
    apply();
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) box.addEventListener(end, (e) => { pointers.delete(e.pointerId); pinch = 0; });
  box.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    const r = box.getBoundingClientRect();
    zoom_at(e.deltaY > 0 ? 0.87 : 1.15, e.clientX - r.left, e.clientY - r.top);
  }, { passive: false });
  const button = (label, title, act) => h("button", { type: "button", title, "aria-label": title, onclick: act }, label);
  const middle = () => [box.clientWidth / 2, box.clientHeight / 2];
  const controls = h("div", { class: "controls" },
    has_time && m.placed ? choice("colour", [["time", m.measured ? "by time" : `by ${m.unit === "cycles" ? "predicted cycles" : m.unit}`], ["placement", "by placement"]], mode, (key) => { mode = key; colour(); }) : null,
    h("div", { class: "choice" }, button("+", "zoom in", () => zoom_at(1.3, ...middle())), button("−", "zoom out", () => zoom_at(0.77, ...middle())), button("whole", "fit to the window", fit)),
    legend);
  const element = section("graph", "Graph", `The ${m.report && m.report.of === "calls" ? "program's calls" : "model's own operators"}. Choose one; drag to move, Ctrl and the wheel or two fingers to zoom.`, controls, pane);
  show_details(null);
  const start = () => lay_out(operators, { width: Math.max(box.clientWidth, 200), height: Math.max(box.clientHeight, 200) }).then(build).catch((error) => replace(box, h("p", { class: "wait" }, `the graph cannot be laid out: ${error.message}`)));
  setTimeout(start, 30);
  return { element, select };
}
