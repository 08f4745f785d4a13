// SPDX-License-Identifier: Apache-2.0
// Everything as tables that can be sorted and searched.
import { choice, h, replace, section } from "./dom.js";
import { grouped, percent } from "./numbers.js";
import { kPlaces, place_of, starred } from "./model.js";

const number = (v, digits) => (v === undefined || v === null || v < 0 ? "" : digits === undefined ? grouped(v) : v.toFixed(digits));
const text = (title, get, extra) => ({ title, get, show: get, ...extra });
const count = (title, get, digits) => ({ title, get: (r) => get(r) ?? -1, show: (r) => number(get(r), digits), numeric: true });
const share = { title: "share", narrow: -1, get: (r) => r.share, show: (r) => percent(r.share), numeric: true };
const clock = text("clock", (r) => (r.clock === "npu" ? "NPU" : "CPU"));

function timing(trace) {
  const both = trace.npu_total > 0;
  const of_run = (key) => (r) => (r[key] === undefined ? undefined : r[key] / Math.max(trace.runs, 1));
  const predicted = (rows) => rows.some((r) => r.measured_over_predicted !== undefined);
  return (rows) => [...(both ? [clock] : []), count("calls", (r) => r.calls), count("min", (r) => r.min), count("median", (r) => r.median), count("max", (r) => r.max), count("total", (r) => r.total), share,
    count("multiply-adds", of_run("macs")), count("a tick", (r) => r.macs_per_tick, 2), count("bytes", of_run("bytes")),
    ...(predicted(rows) ? [count("measured / predicted", (r) => r.measured_over_predicted, 3)] : [])];
}

function tables_of(m) {
  const list = [];
  const { trace } = m;
  // `narrow`: where a column stands on a phone, which shows three.
  const place = { title: "placement", narrow: -2, get: (r) => kPlaces[place_of(r.placement)].label, show: (r) => h("span", { class: "chip", style: { "--chip": kPlaces[place_of(r.placement)].color } }, kPlaces[place_of(r.placement)].label) };
  if (trace) {
    const columns = timing(trace);
    if (trace.by_operator) list.push({ key: "operators", title: "Operators", rows: trace.by_operator, columns: [text("operator", (r) => starred(r.name, r), { main: true, narrow: -3 }), ...columns(trace.by_operator)] });
    list.push({ key: "kernels", title: "Kernels", rows: trace.kernels, columns: [text("kernel", (r) => starred(r.name + (r.added ? " (added)" : ""), r), { main: true }), ...(trace.by_operator ? [text("operators", (r) => r.operators_text || "", { main: true })] : []), ...columns(trace.kernels)] });
    if (trace.by_module) list.push({ key: "modules", title: "Modules", rows: trace.by_module, columns: [text("module", (r) => starred(r.name, r), { main: true }), ...columns(trace.by_module).filter((c) => c.title !== "a tick"), count("with inner", (r) => r.nested_total)] });
    if (trace.baseline) {
      const rows = trace.baseline.by_operator || trace.baseline.kernels;
      list.push({ key: "baseline", title: "Against the baseline", rows, columns: [text(trace.baseline.by_operator ? "operator" : "kernel", (r) => r.name, { main: true }), ...(trace.npu_total ? [clock] : []), count("before", (r) => r.before), count("after", (r) => r.after),
        { title: "change", get: (r) => r.change, show: (r) => `${r.change > 0 ? "+" : r.change < 0 ? "−" : ""}${grouped(Math.abs(r.change))}`, numeric: true }, count("ratio", (r) => r.ratio, 3)] });
    }
    if ((trace.around || []).length) list.push({ key: "around", title: "Before and after", rows: trace.around, columns: [text("event", (r) => r.name, { main: true }), count("calls", (r) => r.calls), count("median", (r) => r.median), count("total", (r) => r.total)] });
  } else if (m.calls.length) {
    const rows = m.calls.flatMap((c) => (c.npu_kernels && c.npu_kernels.length ? c.npu_kernels.map((k) => ({ ...k, at: `${c.instruction}.${k.id}`, order: c.instruction * 1e4 + k.id, placement: "npu" })) : [{ ...c, at: String(c.instruction), order: c.instruction * 1e4 }]));
    const names = (r) => (r.operators || []).map((id) => m.operators[id] && m.operators[id].name).join(" + ");
    list.push({ key: "kernels", title: "Kernel calls", rows, columns: [{ title: "call", get: (r) => r.order, show: (r) => r.at, numeric: true }, text("kernel", (r) => starred((r.kernel || "") + (r.added ? " (added)" : ""), r), { main: true }), ...(m.report && m.report.of === "calls" ? [] : [text("operators", names, { main: true, narrow: -3 })]), place,
      { ...count("predicted cycles", (r) => r.predicted_cycles), narrow: -1 }, text("bound by", (r) => r.bound || ""), count("multiply-adds", (r) => r.macs), count("bytes", (r) => r.bytes)] });
  }
  if (m.operators.length)
    list.push({ key: "reasons", title: m.placed ? "Placement and reasons" : "The model", rows: m.operators, columns: [text("operator", (r) => r.name, { main: true, narrow: -3 }), text("target", (r) => r.short || r.target || ""), ...(m.placed ? [place] : []), text("module", (r) => r.module || ""), text("why", (r) => r.reason || "", { wide: true }), count("multiply-adds", (r) => r.macs)] });
  const { report } = m;
  if (report && (report.choices || []).length)
    list.push({ key: "choices", title: "Either side", rows: report.choices, columns: [text("operator", (r) => r.operator, { main: true }), place, count("NPU cycles", (r) => r.npu_cycles), count("CPU cycles", (r) => r.cpu_cycles), text("why not the NPU", (r) => r.why_not_npu || "", { wide: true })] });
  if (report && (report.crossings || []).length)
    list.push({ key: "crossings", title: "Crossings", rows: report.crossings, columns: [text("tensor", (r) => r.tensor, { main: true }), text("to", (r) => (r.to || "").toUpperCase()), { title: "delegate", get: (r) => r.delegate, show: (r) => String(r.delegate), numeric: true }, count("bytes", (r) => r.bytes)] });
  // A column of which nothing is known is none.
  for (const t of list) t.columns = t.columns.filter((c) => c.main || t.rows.some((r) => (c.numeric ? c.get(r) > 0 : c.get(r) !== "")) || ["calls", "share", "total", "median", "delegate"].includes(c.title));
  return list;
}

export function tables(m, select) {
  const list = tables_of(m);
  if (!list.length) return null;
  let current = list[0], sorted = null, down = true, wanted = "";
  const body = h("div", { class: "table-box", tabindex: 0 }), found = h("span", { class: "found", role: "status" });
  const search = h("input", { type: "search", id: "search", placeholder: "search names, modules, reasons", "aria-label": "search", oninput: (e) => { wanted = e.target.value.trim().toLowerCase(); draw(); } });
  function draw() {
    let rows = current.rows;
    if (wanted) rows = rows.filter((r) => current.columns.some((c) => String(c.get(r)).toLowerCase().includes(wanted)) || (r.module || "").toLowerCase().includes(wanted));
    if (sorted) {
      const sign = down ? -1 : 1;
      rows = [...rows].sort((a, b) => { const x = sorted.get(a), y = sorted.get(b); return sign * (sorted.numeric ? x - y : String(x).localeCompare(String(y))); });
    }
    found.textContent = wanted ? `${rows.length} of ${current.rows.length}` : `${current.rows.length} rows`;
    const columns = innerWidth < 600 ? [...current.columns].sort((a, b) => (a.narrow || 1) - (b.narrow || 1)) : current.columns;
    const head = columns.map((c) => h("th", { class: c.numeric ? "numeric" : "", scope: "col", "aria-sort": sorted === c ? (down ? "descending" : "ascending") : "none" },
      h("button", { type: "button", onclick: () => { down = sorted === c ? !down : Boolean(c.numeric); sorted = c; draw(); } }, c.title)));
    const lines = rows.slice(0, 2000).map((r) => {
      const id = r.operators ? r.operators[0] : r.id !== undefined && current.key === "reasons" ? r.id : undefined;
      return h("tr", id === undefined ? {} : { class: "choosable", onclick: () => select(id) }, columns.map((c) => h("td", { class: [c.numeric ? "numeric" : "", c.main ? "main" : "", c.wide ? "wide" : ""].join(" ").trim() }, c.show(r))));
    });
    replace(body, h("table", { id: `table-${current.key}` }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, lines)));
  }
  const tabs = choice("table", list.map((t) => [t.key, t.title]), current.key, (key) => { current = list.find((t) => t.key === key); sorted = null; draw(); });
  draw();
  return section("tables", "Tables", null, h("div", { class: "controls" }, tabs, search, found), body);
}
