// SPDX-License-Identifier: Apache-2.0
// The runs on a time axis: a track for the CPU, with calls inside calls, and one for the NPU.
import { h, replace, section, svg, tip } from "./dom.js";
import { grouped, ticks } from "./numbers.js";
import { starred } from "./model.js";

const kRow = 26, kGap = 18, kLeft = 44, kAxis = 22;

function unpack(trace) {
  const s = trace.slices;
  const list = [];
  for (let i = 0; i < s.name.length; i++)
    list.push({ name: s.names[s.name[i]], run: s.run[i], row: s.row[i], instruction: s.instruction[i], npu: s.npu[i] === 1, start: s.start[i], end: s.end[i], ticks: s.ticks[i], depth: 0 });
  // How many of the CPU's slices each lies in.
  const open = [];
  for (const x of list) {
    if (x.npu) continue;
    while (open.length && open[open.length - 1].end <= x.start && !(open[open.length - 1].start === x.start && open[open.length - 1].end === x.end)) open.pop();
    x.depth = open.length;
    open.push(x);
  }
  return list;
}

function nice_step(span, count) {
  const raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
  for (const f of [1, 2, 5, 10]) if (f * power >= raw) return f * power;
  return 10 * power;
}

export function timeline(m, select) {
  const { trace } = m;
  if (!trace || !trace.slices || !trace.slices.name.length) return null;
  const slices = unpack(trace);
  const kernels = trace.kernels;
  const depth = slices.reduce((most, s) => (s.npu ? most : Math.max(most, s.depth)), 0) + 1;
  const has_npu = slices.some((s) => s.npu);
  // Kernels that took most get the first colours.
  const palette = new Map();
  for (const k of [...kernels].sort((a, b) => b.total - a.total)) if (!palette.has(k.name)) palette.set(k.name, palette.size);
  const color = (s) => (s.row < 0 ? "var(--runtime)" : palette.get(kernels[s.row].name) < 8 ? `var(--series-${palette.get(kernels[s.row].name)})` : "var(--series-rest)");

  const view = svg("svg", { class: "timeline-view", role: "img", "aria-label": "events over time" });
  const holder = h("div", { class: "timeline-box" }, view);
  const minmax = (list) => list.reduce(([a, b], s) => [Math.min(a, s.start), Math.max(b, s.end)], [Infinity, -Infinity]);
  const runs = [...new Set(slices.map((s) => s.run))];
  let [whole_from, whole_to] = minmax(runs.length > 1 ? slices.filter((s) => s.run === runs[0]) : slices);
  let from = whole_from, to = whole_to;

  function draw() {
    const width = Math.max(holder.clientWidth, 240), inner = width - kLeft - 8;
    const height = kAxis + depth * kRow + (has_npu ? kGap + kRow : 0) + 8;
    view.setAttribute("viewBox", `0 0 ${width} ${height}`);
    view.setAttribute("width", width);
    view.setAttribute("height", height);
    const span = Math.max(to - from, 1e-9), scale = inner / span;
    const parts = [];
    const step = nice_step(span, Math.max(2, Math.floor(inner / 130)));
    for (let t = Math.ceil((from - whole_from) / step) * step; whole_from + t <= to; t += step) {
      const x = kLeft + (whole_from + t - from) * scale;
      parts.push(svg("line", { class: "grid", x1: x, x2: x, y1: kAxis - 4, y2: height }));
      parts.push(svg("text", { class: "axis", x, y: 13, "text-anchor": x > width - 60 ? "end" : "start" }, ticks(t, trace.clocks.cpu)));
    }
    const cpu_top = kAxis, npu_top = kAxis + depth * kRow + kGap;
    parts.push(svg("text", { class: "track", x: 4, y: cpu_top + 17 }, "CPU"));
    if (has_npu) parts.push(svg("text", { class: "track", x: 4, y: npu_top + 17 }, "NPU"));
    const filled = new Map();  // by track and depth: the last pixel that has something
    for (const s of slices) {
      if (s.end < from || s.start > to) continue;
      const x0 = kLeft + Math.max(0, (s.start - from) * scale), x1 = kLeft + Math.min(inner, (s.end - from) * scale);
      const lane = s.npu ? "n" : s.depth, w = Math.max(x1 - x0 - 0.6, 0.6);
      if (x1 - x0 < 0.8 && x1 <= (filled.get(lane) ?? -1)) continue;
      filled.set(lane, x0 + 0.8);
      const y = s.npu ? npu_top : cpu_top + s.depth * kRow;
      const rect = svg("rect", { class: "slice", x: x0, y, width: w, height: kRow - 4, rx: Math.min(3, w / 3), fill: color(s), "data-name": s.name, "data-npu": s.npu ? 1 : 0 });
      const row = s.row >= 0 ? kernels[s.row] : null;
      const group = svg("g", { onclick: () => row && row.operators && row.operators.length && select(row.operators[0]) }, rect);
      if (w > 34) {
        const label = row && row.operators_text && w > 90 ? `${row.operators_text}` : s.name;
        const room = Math.floor((w - 8) / 6.4);
        if (room > 3) group.append(svg("text", { class: "slice-text", x: x0 + 5, y: y + 15 }, label.length > room ? `${label.slice(0, room - 1)}…` : label));
      }
      tip(group, () => [starred(s.name, row || {}), row && row.operators_text, row && row.module ? `module ${row.module}` : "",
        `${grouped(s.ticks)} ${(s.npu && trace.npu_total ? trace.clocks.npu : trace.clocks.cpu).unit}, run ${s.run + 1}`, row && row.added ? "added by the compiler" : ""]);
      parts.push(group);
    }
    replace(view, parts);
  }
  const zoom = (factor, at = 0.5) => {
    const span = to - from, middle = from + span * at, next = Math.min(Math.max(span * factor, (whole_to - whole_from) / 1e5), whole_to - whole_from);
    from = Math.max(whole_from, Math.min(middle - next * at, whole_to - next));
    to = from + next;
    draw();
  };
  const show_run = (key) => {
    [whole_from, whole_to] = minmax(key === "all" ? slices : slices.filter((s) => String(s.run) === key));
    from = whole_from;
    to = whole_to;
    draw();
  };
  let dragged = null;
  view.addEventListener("pointerdown", (e) => { dragged = { x: e.clientX, from, to, id: e.pointerId, moved: false }; });
  view.addEventListener("pointermove", (e) => {
    if (!dragged || !e.buttons) return;
    if (Math.abs(e.clientX - dragged.x) < 4 && !dragged.moved) return;
    if (!dragged.moved) view.setPointerCapture(dragged.id);
    dragged.moved = true;
    const shift = ((dragged.x - e.clientX) / (holder.clientWidth - kLeft - 8)) * (dragged.to - dragged.from);
    const span = dragged.to - dragged.from;
    from = Math.max(whole_from, Math.min(dragged.from + shift, whole_to - span));
    to = from + span;
    draw();
  });
  view.addEventListener("pointerup", () => { dragged = null; });
  view.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, (e.offsetX - kLeft) / (holder.clientWidth - kLeft - 8))));
  }, { passive: false });
  new ResizeObserver(draw).observe(holder);
  const button = (label, title, act) => h("button", { type: "button", title, "aria-label": title, onclick: act }, label);
  const controls = h("div", { class: "controls" },
    runs.length > 1 ? h("label", {}, "run ", h("select", { onchange: (e) => show_run(e.target.value) }, runs.slice(0, 200).map((r) => h("option", { value: r }, String(r + 1))), h("option", { value: "all" }, "all"))) : null,
    h("div", { class: "choice" }, button("+", "zoom in", () => zoom(0.5)), button("−", "zoom out", () => zoom(2)), button("whole", "show everything", () => { from = whole_from; to = whole_to; draw(); })));
  const left_out = trace.slices.left_out ? ` The first ${grouped(trace.slices.name.length)} events are drawn, ${grouped(trace.slices.left_out)} more are in the tables.` : "";
  return section("timeline", "Timeline", `Drag to move, Ctrl and the wheel to zoom.${left_out}`, controls, holder);
}
