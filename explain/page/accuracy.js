// SPDX-License-Identifier: Apache-2.0
// Accuracy by operator: what each value has lost against the float model's, the worst first.
import { h, replace, section, tip } from "./dom.js";
import { percent } from "./numbers.js";

const kShown = 8;
// As the other cards call it; in a module's words where no operator is its own.
const name_of = (r, m) => r.operators.map((id) => m.operators[id].name).join(" + ") || r.name;
const decibels = (r) => (r.sqnr_db === null ? "exact" : `${r.sqnr_db.toFixed(1)} dB`);

export function accuracy(m, select) {
  const rows = [...((m.report && m.report.accuracy) || [])].sort((a, b) => (a.sqnr_db ?? Infinity) - (b.sqnr_db ?? Infinity));
  if (!rows.length) return null;
  const most = Math.max(1, ...rows.map((r) => r.sqnr_db || 0));
  const list = h("div", { class: "bars beside" });
  let all = false;
  const draw = () => {
    const bars = (all ? rows : rows.slice(0, kShown)).map((r) => {
      const clipped = r.clipped >= 0.001 ? `${percent(r.clipped)} clipped` : "";
      const bar = h("button", { type: "button", class: "bar", onclick: () => r.operators.length && select(r.operators[0]) },
        h("span", { class: "bar-name" }, name_of(r, m)), h("span", { class: "bar-value" }, [decibels(r), clipped].filter(Boolean).join("  ·  ")),
        h("span", { class: "bar-track" }, h("span", { class: "bar-fill accuracy", style: { width: `${(100 * Math.max(0, r.sqnr_db ?? most)) / most}%` } })));
      return tip(bar, () => [name_of(r, m), decibels(r), clipped, `largest difference ${r.max_abs_error.toPrecision(3)}`]);
    });
    const more = rows.length > kShown ? h("button", { type: "button", class: "more", onclick: () => { all = !all; draw(); } }, all ? "show fewer" : `show all ${rows.length}`) : null;
    replace(list, bars, more);
  };
  draw();
  return section("accuracy", "Accuracy by operator", "Signal to noise of each result against the float model's, the lowest first. Errors add up along the way.", list);
}
