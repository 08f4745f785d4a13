// SPDX-License-Identifier: Apache-2.0
// The memory plan as rectangles, offset by call, and the bytes alive over the calls (uPlot).
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { choice, h, replace, section, svg, tip } from "./dom.js";
import { bytes, grouped } from "./numbers.js";
import { alive } from "./model.js";

const kKinds = { input: "var(--mem-input)", output: "var(--mem-output)", activation: "var(--mem-activation)", scratch: "var(--mem-scratch)" };

// What a canvas can be given: a colour as it is in the theme of now.
function css(name) {
  const probe = h("i", { style: { color: `var(${name})`, display: "none" } });
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

function plan(memory, m) {
  const tensors = memory.tensors || [];
  const calls = Math.max(m.calls.length, ...tensors.map((t) => (t.last || 0) + 1), 1);
  const top = Math.max(memory.used || 0, ...tensors.map((t) => (t.offset || 0) + (t.bytes || 0)), 1);
  const view = svg("svg", { class: "plan-view", role: "img", "aria-label": "memory plan: offset by call" });
  const holder = h("div", { class: "plan-box" }, view);
  const label = (k) => (m.calls[k] ? `call ${k}, ${m.calls[k].kernel}` : `call ${k}`);
  function draw() {
    const width = Math.max(holder.clientWidth, 240), height = Math.min(420, Math.max(220, width * 0.5)), left = 62, bottom = 24, inner = width - left - 8, tall = height - bottom - 8;
    view.setAttribute("viewBox", `0 0 ${width} ${height}`);
    view.setAttribute("width", width);
    view.setAttribute("height", height);
    const x = (k) => left + (k / calls) * inner, y = (b) => 8 + tall - (b / top) * tall;
    const parts = [];
    for (let i = 0; i <= 4; i++) {
      const b = (top * i) / 4;
      parts.push(svg("line", { class: "grid", x1: left, x2: width - 8, y1: y(b), y2: y(b) }), svg("text", { class: "axis", x: left - 6, y: y(b) + 4, "text-anchor": "end" }, bytes(Math.round(b))));
    }
    const step = Math.max(1, Math.ceil(calls / Math.max(2, Math.floor(inner / 48))));
    for (let k = 0; k < calls; k += step) parts.push(svg("text", { class: "axis", x: x(k + 0.5), y: height - 8, "text-anchor": "middle" }, String(k)));
    for (const t of tensors) {
      const first = Math.max(0, t.first || 0), last = Math.min(calls - 1, t.last || 0);
      if (!t.bytes || last < first) continue;
      const w = Math.max(1, x(last + 1) - x(first) - 1), hh = Math.max(1, y(t.offset) - y(t.offset + t.bytes) - 1);
      const group = svg("g", { class: "tensor" }, svg("rect", { x: x(first), y: y(t.offset + t.bytes), width: w, height: hh, rx: Math.min(3, hh / 3), fill: kKinds[t.kind] || kKinds.activation, "data-tensor": t.name || "" }));
      const room = Math.floor((w - 8) / 7.4);
      if (hh > 15 && room > 4 && t.name) group.append(svg("text", { class: "slice-text", x: x(first) + 4, y: y(t.offset + t.bytes) + 12 }, t.name.length > room ? `${t.name.slice(0, room - 1)}…` : t.name));
      parts.push(tip(group, () => [t.name || "tensor", `${grouped(t.bytes)} bytes at ${grouped(t.offset)}`, `calls ${first} to ${last}`, t.kind, label(first)]));
    }
    replace(view, parts);
  }
  new ResizeObserver(draw).observe(holder);
  const kinds = Object.entries(kKinds).filter(([kind]) => tensors.some((t) => t.kind === kind));
  return h("div", {}, holder, h("div", { class: "legend" }, kinds.map(([kind, color]) => h("span", {}, h("i", { style: { background: color } }), kind))));
}

function over_calls(memory, m) {
  const list = alive(memory, m.calls.length);
  const holder = h("div", { class: "chart" });
  let chart = null;
  const axis = () => ({ stroke: css("--muted"), grid: { stroke: css("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" });
  const make = () => {
    if (chart) chart.destroy();
    const width = Math.max(holder.clientWidth, 240);
    const step = uPlot.paths.stepped({ align: 1 });
    chart = new uPlot({
      width, height: 170, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(max, memory.used || 0) * 1.06] } },
      axes: [{ ...axis(), size: 26, values: (_, v) => v.map((k) => (Number.isInteger(k) && k < list.length ? String(k) : "")) }, { ...axis(), size: 66, space: 34, values: (_, v) => v.map((b) => bytes(b)) }],
      series: [{}, { stroke: css("--mem-activation"), fill: css("--mem-fill"), width: 2, paths: step, points: { show: false } },
        ...(memory.lower_bound ? [{ stroke: css("--muted"), dash: [5, 4], width: 1, points: { show: false } }] : [])],
    }, [[...list.keys(), list.length], [...list, list[list.length - 1]], ...(memory.lower_bound ? [new Array(list.length + 1).fill(memory.lower_bound)] : [])], holder);
  };
  new ResizeObserver(() => { if (!chart || Math.abs(chart.width - holder.clientWidth) > 2) make(); }).observe(holder);
  window.addEventListener("themechange", make);
  const peak = list.indexOf(Math.max(...list));
  tip(holder, () => [`at the peak: ${bytes(list[peak])}`, `call ${peak}${m.calls[peak] ? `, ${m.calls[peak].kernel}` : ""}`]);
  return h("div", {}, holder, memory.lower_bound ? h("div", { class: "legend" }, h("span", {}, h("i", { class: "dashes" }), `lower bound ${bytes(memory.lower_bound)}`)) : null);
}

// What is alive where most is.
export function peak(m) {
  const memory = (m.data.memory || []).find((x) => (x.tensors || []).length);
  if (!memory || !m.calls.length) return null;
  const list = alive(memory, m.calls.length), at = list.indexOf(Math.max(...list));
  const tensors = memory.tensors.filter((t) => t.first <= at && t.last >= at && t.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  if (!tensors.length) return null;
  return section("peak", "At the peak", `call ${at}, ${m.calls[at].kernel}: ${grouped(list[at])} bytes alive`,
    h("table", { class: "small" }, h("tbody", {}, tensors.slice(0, 10).map((t) => h("tr", {}, h("td", {}, t.name || "tensor"), h("td", {}, t.kind || ""), h("td", { class: "numeric" }, grouped(t.bytes)))))),
    tensors.length > 10 ? h("p", { class: "sub" }, `and ${tensors.length - 10} more`) : null);
}

const kParts = ["var(--series-0)", "var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)", "var(--series-5)"];

export function flash(m) {
  const parts = Object.entries(m.data.flash || {}).filter(([, v]) => typeof v === "number" && v > 0);
  const total = parts.reduce((a, [, v]) => a + v, 0);
  if (!total) return null;
  return section("flash", "Flash", `${grouped(total)} bytes by part`,
    h("div", { class: "stack tall" }, parts.map(([name, v], i) => tip(h("span", { style: { flex: String(v), background: kParts[i % kParts.length] }, "data-part": name }), () => [name, `${grouped(v)} bytes`]))),
    h("div", { class: "legend" }, parts.map(([name, v], i) => h("span", {}, h("i", { style: { background: kParts[i % kParts.length] } }), `${name.replace(/_/g, " ")} ${bytes(v)}`))));
}

export function memory(m) {
  const list = (m.data.memory || []).filter((x) => (x.tensors || []).length);
  if (!list.length) return null;
  const body = h("div", {});
  const show = (i) => {
    const x = list[Number(i)];
    const facts = [`${grouped(x.used || 0)} bytes used`, x.bytes ? `of ${grouped(x.bytes)}` : "", x.lower_bound ? `lower bound ${grouped(x.lower_bound)}` : ""].filter(Boolean).join(", ");
    replace(body, h("p", { class: "sub" }, facts), plan(x, m), h("h3", {}, "Alive over the calls"), over_calls(x, m));
  };
  show(0);
  return section("memory", "Memory", "Each box is a tensor: its height is its bytes, from its address up; its width is the calls that need it.",
    list.length > 1 ? choice("memory", list.map((x, i) => [String(i), x.name]), "0", show) : null, body);
}
