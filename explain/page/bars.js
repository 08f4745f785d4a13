// SPDX-License-Identifier: Apache-2.0
// Time by operator: a bar for each group of operators that share kernels.
import { h, replace, section, tip } from "./dom.js";
import { starred } from "./model.js";
import { grouped, percent, short, ticks } from "./numbers.js";

const kShown = 14;

export function bars(m, select) {
  if (!m.rows.length) return null;
  const clock = (r) => (m.trace ? m.trace.clocks[r.clock] : { unit: m.unit });
  const list = h("div", { class: "bars" });
  let all = false;
  const largest = {};  // of each clock
  for (const r of m.rows) largest[r.clock] = Math.max(largest[r.clock] || 1e-12, r.share);
  if (!m.trace || m.trace.clocks.comparable) largest.npu = largest.cpu = Math.max(...Object.values(largest));
  const draw = () => {
    const rows = all ? m.rows : m.rows.slice(0, kShown);
    const children = [];
    let last = null;
    for (const r of rows) {
      if (m.trace && !m.trace.clocks.comparable && m.trace.npu_total && r.clock !== last) {
        last = r.clock;
        children.push(h("h3", {}, `${r.clock === "npu" ? "NPU" : "CPU"}, ${m.trace.clocks[r.clock].unit}`));
      }
      const bar = h("button", { type: "button", class: "bar", "data-row": r.name, onclick: () => r.operators && r.operators.length && select(r.operators[0]) },
        h("span", { class: "bar-name" }, starred(r.added_ticks > 0 && r.added_ticks >= r.total ? `${r.name} (added)` : r.name, r)),
        h("span", { class: "bar-value" }, `${percent(r.share)}  ·  ${m.trace || m.unit === "cycles" ? ticks(r.value, clock(r)) : short(r.value)}`),
        h("span", { class: "bar-track" }, h("span", { class: `bar-fill ${r.is_port ? "port" : r.clock}`, style: { width: `${(100 * r.share) / largest[r.clock]}%` } })));
      tip(bar, () => [r.name, `${grouped(r.value)} ${clock(r).unit}${m.trace ? " a run" : ""}, ${percent(r.share)}`, r.macs > 0 && (m.trace || m.unit === "cycles") ? `${short(r.macs / (m.trace ? Math.max(m.trace.runs, 1) : 1))} multiply-adds` : "",
        r.bound ? `bound by ${r.bound}` : "", r.is_port ? "--io int8 avoids this" : "", r.added_ticks ? `${grouped(r.added_ticks)} of it in kernels that the compiler added` : ""]);
      children.push(bar);
    }
    if (m.rows.length > kShown)
      children.push(h("button", { type: "button", class: "more", onclick: () => { all = !all; draw(); } }, all ? "show fewer" : `show all ${m.rows.length}`));
    replace(list, children);
  };
  draw();
  const by = m.trace && !m.trace.by_operator ? "kernel" : "operator";
  return section("bars", `${m.trace ? "Time" : m.unit === "cycles" ? "Predicted cycles" : "Multiply-adds"} by ${by}`, m.report && m.report.of ? null : `Fused operators share a bar, “a + b”; each ${m.trace ? "tick" : m.unit === "cycles" ? "cycle" : "multiply-add"} is counted once.`, list);
}
