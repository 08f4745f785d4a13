# SPDX-License-Identifier: Apache-2.0
"""Writes traces as stock firmware does (the NeutronBackend and the ETDump library of ExecuTorch 1.5), of a program's map.

Behind load_method's block one for each run. Kernels of the CPU have `native_call_NAME` inside `OPERATOR_CALL`; what the runtime does itself
has chain -1 and instruction 0. Inside a delegate: no name, numbers from 0, one byte of metadata (the kind of kernel), cycles of the NPU's own
counter, which runs on; then the writing of the profile, kind 0, whose end has the CPU's ticks of the whole call added to it.
"""
import etdump_made

DUMP_CYCLES, AROUND_TICKS = 480, 40


def cycles(call, kernel):
    return 100 + 7 * kernel["id"] + 1000 * call["instruction"]


def call_ticks(call):
    """Of a delegate: what the CPU's clock counts for it, whatever the NPU does."""
    return 7170 + 10 * call["instruction"]


def kind(kernel):
    return (37 * kernel["id"] + 11) % 199 + 1


def stock_name(kernel):
    """The generated kernels of stock firmware name themselves without their namespace."""
    return "native_call_" + kernel.split("::")[-1]


def framework(name, start, end):
    return {"profile": {"name": name, "chain": -1, "instruction": 0, "start": start, "end": end}}


def run_of(calls, cpu, npu):
    events, begin = [], cpu
    for call in calls:
        at = {"chain": 0, "instruction": call["instruction"]}
        start = cpu + AROUND_TICKS
        if "npu_kernels" in call or call["kernel"] == "NeutronBackend":
            for k in call.get("npu_kernels", []):
                events.append({"profile": {**at, "delegate_id": k["id"], "start": npu, "end": npu + cycles(call, k), "metadata": bytes([kind(k)])}})
                npu += cycles(call, k)
            end = npu + DUMP_CYCLES + call_ticks(call) - 2 * AROUND_TICKS
            events.append({"profile": {**at, "delegate_id": len(call.get("npu_kernels", [])), "start": npu, "end": end, "metadata": b"\0"}})
            npu += DUMP_CYCLES
            cpu = start + call_ticks(call)
            events.append({"profile": {**at, "name": "DELEGATE_CALL", "start": start, "end": cpu}})
        else:
            cpu = start + 300
            events.append({"profile": {**at, "name": stock_name(call["kernel"]), "start": start + 5, "end": cpu - 5}})
            events.append({"profile": {**at, "name": "OPERATOR_CALL", "start": start, "end": cpu}})
    events.append(framework("Method::execute", begin, cpu + AROUND_TICKS))
    return {"name": "Execute", "bundled_input": -1, "events": events}, cpu + AROUND_TICKS, npu


def trace(program_map, cpu=1_000_000, npu=70_000, runs=1):
    """The bytes of a trace whose counters stand so when the first run begins."""
    blocks = [{"name": "Default", "bundled_input": -1,
               "events": [framework("Method::init", 5, 80), framework("Program::load_method", 5, 90)]}]
    for _ in range(runs):
        block, cpu, npu = run_of(program_map["calls"], cpu + 977, npu + 1234)
        blocks.append(block)
    return etdump_made.written(blocks)
