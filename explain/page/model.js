// SPDX-License-Identifier: Apache-2.0
// The page's data, joined: what each operator took or would take.
export const kPlaces = {
  npu: { label: "NPU", color: "var(--npu)" },
  cpu: { label: "CPU", color: "var(--cpu)" },
  portable: { label: "CPU, portable", color: "var(--portable)" },
  none: { label: "no kernel", color: "var(--none)" },
  unknown: { label: "not known", color: "var(--none)" },  // a stock record does not say
};
export const place_of = (p) => (p === "cortex_m" ? "cpu" : kPlaces[p] ? p : "unknown");

// A kernel that the open machine is assumed to have (docs/neutron-machine.md), or a row with such calls, has the star that it has in the texts.
export const starred = (text, r) => (r.assumed || r.assumed_calls > 0 ? `${text} *` : text);

// How many calls of such kernels there are, and what the NPU would take where each is two; in one run. A chip's own ticks say nothing of
// kernels that it has not run.
export function assumed_of(m) {
  const runs = m.trace ? Math.max(m.trace.runs, 1) : 1;
  const rows = m.trace ? m.trace.kernels.filter((r) => r.assumed_calls > 0) : m.calls.flatMap((c) => (c.npu_kernels || []).filter((k) => k.assumed));
  const calls = rows.reduce((a, r) => a + (m.trace ? r.assumed_calls : 1), 0);
  const more = rows.reduce((a, r) => a + r.apart_cycles - (m.trace ? r.total : r.predicted_cycles), 0);
  const npu = m.trace ? m.trace.npu_total : m.rows.filter((r) => r.clock === "npu").reduce((a, r) => a + r.value, 0);
  return { calls: calls / runs, apart: m.trace && !m.data.npu_is_open_model ? null : (npu + Math.max(more, 0)) / runs };
}

export function join(data) {
  const operators = (data.operators || []).map((o, id) => ({
    ...o, id, place: place_of(o.placement), kernels: [], share: 0, times: {}, shared: false,
    inputs: o.inputs || [], short: (o.target || "").replace(/^(torch\.ops\.|executorch\.exir\.dialects\.edge\.ops\.)?(aten\.)?/, "").replace(/\.default$/, ""),
  }));
  const calls = data.calls || [];
  for (const call of calls) {
    const inside = call.npu_kernels && call.npu_kernels.length ? call.npu_kernels.map((k) => ({ ...k, npu: true, instruction: call.instruction })) : [call];
    for (const kernel of inside)
      for (const id of kernel.operators || []) if (operators[id]) operators[id].kernels.push(kernel);
    for (const w of call.without_kernel || []) if (operators[w.operator] && !operators[w.operator].reason) operators[w.operator].reason = w.reason;
  }
  for (const f of data.folded || []) if (operators[f.operator] && !operators[f.operator].reason) operators[f.operator].reason = f.reason;
  // Cycles of a model of the NPU beside an emulator's instructions or a host's time: no milliseconds of any chip.
  if (data.trace && !data.trace.clocks.comparable) delete data.trace.clocks.npu.ticks_per_second;
  const predicted = calls.some((c) => inside_of(c).some((k) => k.predicted_cycles !== undefined));
  const rows = data.trace ? trace_rows(data, operators) : calls.length ? predicted_rows(calls, operators, predicted ? "predicted_cycles" : "macs") : model_rows(operators);
  const unit = predicted ? "cycles" : "multiply-adds";
  total(operators, !data.trace || data.trace.clocks.comparable);
  const placed = operators.some((o) => o.place !== "unknown");
  return { data, operators, placed, calls, rows, trace: data.trace, report: data.report, unit, measured: Boolean(data.trace) };
}

// What the bars and the graph show: of a trace, its table by operator (or by kernel, where there is no record).
function trace_rows(data, operators) {
  const { trace } = data;
  const rows = (trace.by_operator || trace.kernels).map((r) => ({ ...r, value: r.total / Math.max(trace.runs, 1) }));
  if (trace.by_operator)
    for (const row of rows)
      if (!row.name.startsWith("(")) for (const id of row.operators || []) add(operators[id], row);
  return rows;
}

// Ticks of two clocks are never added; their shares only where both tell their rate.
function add(operator, row) {
  if (!operator) return;
  const t = (operator.times[row.clock] ??= { share: 0, ticks: 0 });
  t.share += row.share;
  t.ticks += row.value;
  operator.shared = operator.shared || row.operators.length > 1;
}

function total(operators, comparable) {
  for (const o of operators) {
    const shares = Object.values(o.times).map((t) => t.share);
    o.share = comparable ? shares.reduce((a, x) => a + x, 0) : Math.max(0, ...shares);
  }
}

// What a float input or output costs on the device; --io int8 leaves it out.
export function conversion_of(kernel) {
  const name = (kernel || "").split("::").pop();
  return name.startsWith("quantize") ? "float inputs to int8" : name.startsWith("dequantize") ? "outputs to float" : "";
}

const inside_of = (call) => (call.npu_kernels && call.npu_kernels.length ? call.npu_kernels : [call]);

// Without a trace: predicted cycles, or where no model of the machine gives any, multiply-adds; grouped as a trace's ticks would be.
function predicted_rows(calls, operators, what) {
  const groups = new Map();
  const totals = { npu: 0, cpu: 0 };
  for (const call of calls) {
    const list = inside_of(call);
    for (const k of list) {
      if (k[what] === undefined) continue;
      const clock = list === call.npu_kernels ? "npu" : "cpu";
      const ids = k.operators || [];
      const port = k.added && conversion_of(k.kernel);  // of an input or output: no operator of the model takes that time
      const key = `${clock} ${port || ids.join()}`;
      if (!groups.has(key))
        groups.set(key, { name: port || ids.map((id) => operators[id].name).join(" + ") || "(no operator)", operators: port ? [] : ids, is_port: Boolean(port), clock, placement: call.placement,
          value: 0, macs: 0, bytes: 0, calls: 0, bound: k.bound });
      const g = groups.get(key);
      g.value += k[what];
      g.macs += k.macs || 0;
      g.bytes += k.bytes || 0;
      g.calls++;
      g.assumed = g.assumed || k.assumed;
      totals[clock] += k[what];
    }
  }
  const whole = totals.npu + totals.cpu;
  const rows = [...groups.values()];
  for (const g of rows) {
    g.share = whole ? g.value / whole : 0;
    for (const id of g.operators) add(operators[id], g);
  }
  return rows.filter((r) => r.value > 0).sort((a, b) => b.value - a.value);
}

// Of a model that nothing was compiled of: its multiply-adds.
function model_rows(operators) {
  const whole = operators.reduce((a, o) => a + (o.macs || 0), 0);
  const rows = operators.filter((o) => o.macs > 0).map((o) => ({ name: o.name, operators: [o.id], clock: "cpu", value: o.macs, macs: o.macs, share: o.macs / whole }));
  for (const row of rows) add(operators[row.operators[0]], row);
  return rows.sort((a, b) => b.value - a.value);
}

// By call: bytes of planned memory alive. What lies on another tensor (views, results in place) counts once.
export function alive(memory, calls) {
  const list = new Array(calls).fill(0);
  const sorted = [...(memory.tensors || [])].sort((a, b) => (a.offset || 0) - (b.offset || 0));
  const ends = new Array(calls).fill(0);
  for (const t of sorted)
    for (let k = Math.max(0, t.first || 0); k <= Math.min(t.last || 0, calls - 1); k++) {
      const end = (t.offset || 0) + (t.bytes || 0);
      list[k] += Math.max(0, end - Math.max(ends[k], t.offset || 0));
      ends[k] = Math.max(ends[k], end);
    }
  return list;
}
