// SPDX-License-Identifier: Apache-2.0
// The figures at the top.
import { h, section } from "./dom.js";
import { bytes, grouped, percent, plural, short, ticks, time } from "./numbers.js";
import { assumed_of, kPlaces } from "./model.js";

// What decides comes first, larger: time, RAM, accuracy.
const kLead = ["cycles", "cpu", "npu", "ram", "worst", "error", "macs", "constants", "flash"];

// What deuteron inspect knows of a file.
const kOfFile = {
  model: "As the model was read. What goes where and what it costs: deuteron analyze MODEL --target T --html FILE.",
  calls: "The program's calls. With --etrecord FILE, which compile writes, the model's own operators and predicted cycles.",
};

const figure = (label, value, note, id) =>
  h("div", { class: "figure", "data-figure": id }, h("div", { class: "label" }, label), h("div", { class: "value" }, value), note ? h("div", { class: "note" }, note) : null);

export function overview(m) {
  const { data, trace, report } = m;
  const figures = [];
  const assumed = assumed_of(m);
  const star = assumed.calls ? `, ${plural(assumed.calls, trace ? "call" : "kernel")} assumed *` : "";
  if (trace) {
    const runs = Math.max(trace.runs, 1);
    const driver = trace.npu_total ? "calls of the NPU included" : null;
    figures.push(figure("CPU, one run", ticks(trace.cpu_total / runs, trace.clocks.cpu), driver || plural(trace.runs, "run") + " measured", "cpu"));
    if (trace.npu_total) figures.push(figure("NPU, one run", ticks(trace.npu_total / runs, trace.clocks.npu), plural(trace.runs, "run") + " measured" + star, "npu"));
    const top = m.rows.find((r) => !r.name.startsWith("("));
    if (top) figures.push(figure("Most time", percent(top.share), top.name, "top"));
  } else {
    const rows = m.unit === "cycles" ? m.rows : [];
    const npu = rows.filter((r) => r.clock === "npu").reduce((a, r) => a + r.value, 0);
    const cpu = rows.filter((r) => r.clock === "cpu").reduce((a, r) => a + r.value, 0);
    if (npu) figures.push(figure("NPU, predicted", `${short(npu)} cycles`, "open model of the machine" + star, "npu"));
    if (cpu && npu) figures.push(figure("CPU, predicted", `${short(cpu)} cycles`, "model of the core", "cpu"));
  }
  const whole = report && report.cycles && report.cycles.total;
  if (whole)
    figures.push(figure("One run, predicted", report.cycles.milliseconds ? time(report.cycles.milliseconds / 1e3) : `${short(whole)} cycles`,
      [report.cycles.milliseconds ? `${short(whole)} cycles` : "", report.cycles.crossing ? `${short(report.cycles.crossing)} of them crossing` : "", star.slice(2)].filter(Boolean).join(", "), "cycles"));
  const macs = m.operators.reduce((a, o) => a + (o.macs || 0), 0) || (report && report.macs) || 0;
  const on_npu = m.operators.filter((o) => o.place === "npu").reduce((a, o) => a + (o.macs || 0), 0);
  if (macs) figures.push(figure("Multiply-adds", short(macs), on_npu ? `${percent(on_npu / macs)} on the NPU` : null, "macs"));
  if (report && report.constants_bytes) figures.push(figure("Constants", bytes(report.constants_bytes), "as the model has them", "constants"));
  const used = (data.memory || []).reduce((a, x) => a + (x.used || 0), 0);
  const bound = (data.memory || []).reduce((a, x) => a + (x.lower_bound || 0), 0);
  const has = (data.memory || []).reduce((a, x) => a + (x.bytes || 0), 0);
  if (used)
    figures.push(figure("RAM for tensors", bytes(used),
      [has ? `of ${bytes(has)} on the chip` : "", bound ? (bound === used ? "optimal" : `lower bound ${bytes(bound)}`) : ""].filter(Boolean).join(", "), "ram"));
  const flash = data.flash ? Object.values(data.flash).reduce((a, x) => a + (typeof x === "number" ? x : 0), 0) : 0;
  if (flash) figures.push(figure("Flash", bytes(flash), "the program file", "flash"));
  const worst = report && report.worst_output;
  if (worst)
    figures.push(figure("Worst output", worst.sqnr_db === null ? "exact" : `${worst.sqnr_db.toFixed(1)} dB`,
      worst.name + (worst.axis === null ? "" : `, index ${worst.index} of axis ${worst.axis}`) + (worst.constant ? ", always the same" : ""), "worst"));
  if (report && (report.sqnr_db || report.exact))
    figures.push(figure("Signal to noise", report.exact ? "exact" : `${report.sqnr_db.toFixed(1)} dB`, worst ? "all outputs together" : "against the float model", "error"));
  const crossed = (report && report.crossings) || [];
  if (crossed.length)
    figures.push(figure("Crossings", grouped(crossed.length), `${bytes(crossed.reduce((a, c) => a + (c.bytes || 0), 0))} to and from the NPU${report.transposes !== undefined ? `, ${plural(report.transposes, "transpose")}` : ""}`, "crossings"));
  const slim = report && report.slimming;
  if (slim)
    figures.push(figure("Left out", `${short(slim.macs_left_out)} multiply-adds`,
      `${grouped(slim.left_out)} of ${grouped(slim.filters)} filters, ${bytes(slim.constants_left_out)}`, "slimming"));
  const delegates = m.calls.filter((c) => c.npu_kernels).length;
  if (delegates) figures.push(figure("Delegates", grouped(delegates), "calls of the NPU in one run", "delegates"));

  const counts = Object.entries(kPlaces).map(([key, p]) => [p, m.operators.filter((o) => o.place === key).length]).filter(([, n]) => n);
  const total = m.operators.length;
  const share_bar = total && m.placed
    ? h("div", { class: "placements" }, h("div", { class: "stack", role: "img", "aria-label": "operators by placement" },
        counts.map(([p, n]) => h("span", { style: { flex: String(n), background: p.color } }))),
        h("div", { class: "legend" }, counts.map(([p, n]) => h("span", {}, h("i", { style: { background: p.color } }), `${p.label}: ${plural(n, report && report.of === "calls" ? "call" : "operator")}`))))
    : null;
  const rank = (f) => kLead.indexOf(f.dataset.figure);
  const leads = trace ? ["cpu", "npu", "ram", "worst", "error"] : whole ? ["cycles", "ram", "worst", "error"] : ["cpu", "npu", "ram", "worst", "error", ...(report && report.of ? ["macs", "constants", "flash"] : [])];
  const first = figures.filter((f) => leads.includes(f.dataset.figure)).sort((a, b) => rank(a) - rank(b));
  return section("overview", "Overview", null, h("div", { class: "figures lead" }, first), h("div", { class: "figures" }, figures.filter((f) => !first.includes(f))),
    share_bar, notes(m, assumed));
}

function notes(m, assumed) {
  const list = [];
  if (assumed.calls)
    list.push("* assumes that the NPU fuses these with what follows (docs/neutron-machine.md)" +
      (assumed.apart === null ? "" : `; if not: ${assumed.calls} more ${assumed.calls === 1 ? "call" : "calls"}, NPU ${grouped(assumed.apart)} cycles`) + ".");
  const { trace } = m;
  const ports = m.rows.filter((r) => r.is_port).reduce((a, r) => a + r.share, 0);
  if (ports >= 0.02) list.push(`Float inputs and outputs are converted on the device, ${percent(ports)} of the ${m.unit}: --io int8 avoids that.`);
  if (kOfFile[m.report && m.report.of]) return h("ul", { class: "notes" }, h("li", {}, kOfFile[m.report.of]));
  if (!trace && m.report) list.push("What to change, ranked by what it costs: deuteron doctor MODEL --target T --calibrate F --try.");
  if (trace) {
    if (trace.dropped) list.push(`${plural(trace.dropped, "event")} did not fit into the tracer's buffer; sums are of the others.`);
    if (!trace.by_operator) list.push("No record was given: rows are kernels, not the model's operators. deuteron inspect --etrecord FILE adds them.");
    if (trace.npu_total && !trace.clocks.comparable)
      list.push(`The CPU counts ${trace.clocks.cpu.unit}, the NPU ${trace.clocks.npu.unit}: shares are of each clock's own total, and the NPU's kernels are drawn inside their call.`);
    if (trace.cpu_total === 0 && trace.npu_total === 0) list.push("The clock stood still: all events took no time.");
  } else list.push(m.unit === "cycles" ? "Predicted, not measured. For measured times: deuteron profile, then inspect --html." : "No trace, and no model of this machine's cycles: operators are compared by their multiply-adds.");
  return h("ul", { class: "notes" }, list.map((t) => h("li", {}, t)));
}
