# SPDX-License-Identifier: Apache-2.0
"""A zoo of architectures: which compile, which become wholly int8, how exact they are beside PT2E, and what compiling takes.

    zoo/bin/python bench/zoo.py [--tool build/deuteron] [--cache DIR] [--only NAME,NAME] [--resume] [--no-pt2e] [--failures FILE] [--write]

The rows are in bench/zoo/: networks of torchvision, timm, transformers and torchaudio, and small ones as users of microcontrollers write
them, with seeded random weights. Each is exported with torch.export, compiled for a Cortex-M55 with 8 samples and measured on 16 others.
Each step is a process of its own with limits of time and memory; results lie in the cache, a folder for each row. --resume keeps what is
there; a changed compiler is measured again all the same. --write puts the table into bench/zoo/README.md, which says how to install the packages;
with --only the other rows stay as they stand there, and so do figures of PT2E that were not measured.
Exit code 1: a bar is missed.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "bench" / "zoo" / "README.md"
BEGIN, END = "<!-- made by bench/zoo.py -->\n", "<!-- end -->\n"
SMALL, SECONDS, BYTES = 10_000_000, 20, 1 << 30  # parameters; what compiling one so small may take
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(ROOT / "bench" / "zoo"))
sys.path.insert(1, str(ROOT / "bench"))


def kept(path, compute):
    """The JSON of the file, or of compute(), which is written there; an error is computed again."""
    if path.exists() and "error" not in (result := json.loads(path.read_text())):
        return result
    result = compute()
    path.write_text(json.dumps(result, indent=1))
    return result


def measure(row, folder, options, key):
    """All figures of a row."""
    import steps
    if not options.resume:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    answer = lambda pair: pair[0] or {"error": pair[1]}
    out = {"name": row.name, "origin": row.origin}
    out["export"] = kept(folder / "export.json", lambda: answer(steps.apart(steps.export, row, folder)))
    if "error" in out["export"]:
        return out
    out["ours"] = kept(folder / f"ours-{key}.json", lambda: steps.compiled(options.tool, folder))
    peer = folder / "pt2e.json"
    if not options.no_pt2e:
        kept(peer, lambda: best_peer(steps, folder, answer))
    if peer.exists():
        out["pt2e"] = json.loads(peer.read_text())
    return out


def best_peer(steps, folder, answer):
    """The quantizer of the target's own flow; XNNPACK's where that one fails."""
    result = {}
    for name in ("cortex_m", "xnnpack"):
        result = answer(steps.apart(steps.pt2e, folder, name))
        if "error" not in result:
            break
    return result


def refused(result):
    """(rule, text) of each diagnostic that stopped the compilation."""
    ours = result["ours"]
    if ours["status"] == 0:
        return [] if not ours["run"] else [("run", ours["run"])]
    found = [(d.get("rule", "?"), f"{d.get('where', '')}: {d.get('what', '')}") for d in ours["diagnostics"] if d.get("severity") == "error"]
    ending = f"status {ours['status']} after {ours['seconds']:.0f} s: {ours.get('said', '')[-200:]}"
    return found or [("limit" if ours["status"] < 0 else "ended", ending)]


def is_int8(result):
    return result["ours"]["status"] == 0 and not result["ours"]["float"]


def share(part, whole):
    return f"{part} of {whole} ({100 * part / max(whole, 1):.1f} %)"


def summary(results):
    """[(what, measured, bar, whether it holds)]"""
    done = [r for r in results if "ours" in r]
    well = [r for r in done if not refused(r)]
    whole = [r for r in done if is_int8(r)]
    pairs = [(r["ours"]["db"], r["pt2e"]["db"]) for r in well if r["ours"].get("db") is not None and r.get("pt2e", {}).get("db") is not None]
    small = [r for r in done if r["export"]["parameters"] < SMALL]
    slow, large = max(r["ours"]["seconds"] for r in small), max(r["ours"]["bytes"] for r in small)
    rows = [("architectures", str(len(done)), "120", len(done) >= 120),
            ("compile", share(len(well), len(done)), "97 %", len(well) >= 0.97 * len(done)),
            ("wholly int8", share(len(whole), len(done)), "90 %", len(whole) >= 0.9 * len(done))]  # fmt: skip
    if pairs:
        ours, peer = (statistics.median(p[k] for p in pairs) for k in (0, 1))
        better = sum(a >= b for a, b in pairs)
        rows += [(f"median SQNR held out, {len(pairs)} networks (PT2E {peer:.1f}; at least as good in {better})", f"{ours:.1f} dB",
                  f"{peer:.1f} dB", ours >= peer)]
    return rows + [(f"longest compilation under {SMALL // 1_000_000} M parameters, of one core", f"{slow:.1f} s", f"{SECONDS} s", slow <= SECONDS),
                   (f"largest memory under {SMALL // 1_000_000} M parameters", f"{large / 2**20:.0f} MiB", "1024 MiB", large <= BYTES)]


def cells(result):
    ours, why = result["ours"], refused(result)
    figure = lambda value: "" if value is None else f"{value:.1f}"
    if why:
        verdict = "refused: " + ", ".join(f"`{rule}`" for rule in sorted({rule for rule, _ in why}))
    elif ours["float"]:
        verdict = "float: " + ", ".join(f"`{o.partition(' ')[0]}`" for o in ours["float"])
    else:
        verdict = "int8"
    peer = result.get("pt2e", {})
    mark = " (x)" if peer.get("quantizer") == "xnnpack" else ""
    return [result["name"], result["origin"], f"{result['export']['parameters'] / 1e3:.0f}", figure(ours.get("macs") and ours["macs"] / 1e6), verdict,
            figure(ours.get("db")), figure(peer.get("db")) + mark, f"{ours['seconds']:.1f}", f"{ours['bytes'] / 2**20:.0f}"]  # fmt: skip


def table(results):
    lines = ["| what | measured | bar |", "| --- | ---: | ---: |"]
    lines += [f"| {what} | {measured}{'' if holds else ' !'} | {bar} |" for what, measured, bar, holds in summary(results)]
    lines += ["", "| network | from | parameters, k | MACs, M | result | SQNR, dB | PT2E, dB | s | MiB |"]
    lines += ["|" + " --- |" * 2 + " ---: |" * 2 + " --- |" + " ---: |" * 4]
    return "\n".join(lines + ["| " + " | ".join(cells(r)) + " |" for r in results if "ours" in r]) + "\n"


def result_of(line):
    """What a row of the table says; of a refusal only that there was one."""
    name, origin, parameters, macs, verdict, db, peer, seconds, mib = (cell.strip() for cell in line.strip("| \n").split(" | "))
    figure = lambda text: float(text) if text else None
    rules = [{"rule": rule, "severity": "error"} for rule in re.findall("`(.*?)`", verdict)]
    refused = verdict.startswith("refused")
    ours = {"status": int(refused), "run": "", "diagnostics": rules if refused else [], "float": [] if refused else [r["rule"] for r in rules],
            "db": figure(db), "macs": figure(macs) and float(macs) * 1e6, "seconds": float(seconds), "bytes": float(mib) * 2**20}  # fmt: skip
    result = {"name": name, "origin": origin, "export": {"parameters": float(parameters) * 1e3}, "ours": ours}
    value, _, mark = peer.partition(" ")
    if value:
        result["pt2e"] = {"db": float(value), "quantizer": "xnnpack" if mark else "cortex_m"}
    return result


def among_those_of(page, measured):
    """All rows of the page, with the measured ones in the place of theirs."""
    new = {r["name"]: r for r in measured if "ours" in r}
    results = []
    for line in page.splitlines():
        if line.count(" | ") == 8 and not line.startswith(("| network", "| ---")):
            old = result_of(line)
            result = new.pop(old["name"], old)
            if "pt2e" in old:
                result.setdefault("pt2e", old["pt2e"])
            results.append(result)
    return results + list(new.values())


def failures(results):
    """What to build next: refusals, operators left in float and slow compilations, the most frequent first."""
    done = [r for r in results if "ours" in r]
    groups = collections.defaultdict(list), collections.defaultdict(list)
    for result in done:
        for rule, text in refused(result):
            operator = re.search(r"aten\.\w+", text)
            groups[0][f"{rule} {operator[0]}" if operator else rule].append((result["name"], text))
        for operator in result["ours"].get("float", []):
            groups[1][operator].append((result["name"], ""))
    well = [r for r in done if not refused(r)]
    lines = [f"# {len(done)} measured, {len(done) - len(well)} refused, {sum(not is_int8(r) for r in well)} partly float"]
    for title, group in zip(("Refused, by rule and operator", "Left in float, by operator"), groups):
        lines += ["", f"## {title}"]
        for what, rows in sorted(group.items(), key=lambda g: -len({n for n, _ in g[1]})):
            lines += ["", f"### {what}: {len({n for n, _ in rows})}", *(f"- {n}{': ' if t else ''}{t}" for n, t in rows)]
    lines += ["", "## Over 8 s of one core, or 700 MiB"]
    slow = sorted((r for r in done if r["ours"]["seconds"] > 8 or r["ours"]["bytes"] > 700 << 20), key=lambda r: -r["ours"]["seconds"])
    took = lambda r: f"{r['ours']['seconds']:.1f} s, {r['ours']['bytes'] >> 20} MiB, {r['export']['parameters'] / 1e6:.2f} M parameters"
    lines += [f"- {r['name']}: {took(r)}" for r in slow]
    worse = [(r["pt2e"]["db"] - r["ours"]["db"], r) for r in done if r["ours"].get("db") is not None and r.get("pt2e", {}).get("db") is not None]
    lines += ["", "## More than 1 dB under PT2E"]
    lines += [f"- {r['name']}: {r['ours']['db']:.1f}, PT2E {r['pt2e']['db']:.1f}" for gap, r in sorted(worse, key=lambda w: -w[0]) if gap > 1]
    lines += ["", "## Not exported"] + [f"- {r['name']}: {r['export']['error']}" for r in results if "error" in r["export"]]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build" / "deuteron")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build" / "zoo")
    parser.add_argument("--only", default="", help="names, or parts of them")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--no-pt2e", action="store_true")
    parser.add_argument("--failures", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    from all_rows import ROWS
    wanted = [part for part in options.only.split(",") if part]
    rows = [row for row in ROWS if not wanted or any(part in row.name for part in wanted)]
    key = hashlib.sha256(options.tool.read_bytes()).hexdigest()[:12]
    import steps
    steps.prepare(not options.no_pt2e)
    results = []
    for row in rows:
        results.append(result := measure(row, options.cache / row.name, options, key))
        print(" | ".join(cells(result)) if "ours" in result else f"{row.name}: {result['export']['error']}", file=sys.stderr, flush=True)
        if options.failures and (len(results) % 5 == 0 or len(results) == len(rows)):
            options.failures.write_text(failures(results))
    if options.write:
        text = PAGE.read_text()
        head, old, tail = text[:text.index(BEGIN) + len(BEGIN)], text[text.index(BEGIN):text.index(END)], text[text.index(END):]
        if options.only:
            results = among_those_of(old, results)
        PAGE.write_text(f"{head}\n{table(results)}\n{tail}")
    print(table(results))
    return 0 if all(holds for *_, holds in summary(results)) else 1


if __name__ == "__main__":
    sys.exit(main())
