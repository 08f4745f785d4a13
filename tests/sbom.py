"""The software bills of materials name what is really in the program and in a firmware project (tools/sbom.py).

    sbom.py DEUTERON BUILD

Held against what others say: the loader (ldd) and the sources' own includes for the program, the files of the project and the symbols of the image for
a firmware. Without Debian's database, without ninja or the cross compiler there is nothing to hold it against: skipped (77)."""
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL, BUILD = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
# Libraries that leave no name for the loader: the source package, and how our sources include it.
HEADER_ONLY = {"nlohmann-json3": "nlohmann/", "cli11": "CLI/", "flatbuffers": "flatbuffers/", "eigen3": "eigen3/Eigen/", "tomlplusplus": "toml++/"}
# In an image, symbols that only this package defines.
IMAGE_SYMBOLS = {"newlib": r" [TtWw] (memcpy|memset|memmove|exp|expf|strlen|roundf?)$"}


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


def sbom(kind, folder):
    done = subprocess.run([sys.executable, ROOT / "tools/sbom.py", kind, folder], capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    return done.stdout


def check_document(text):
    """What every SPDX 2.3 document has. Answers {package: version}."""
    d = json.loads(text)
    expect(d["spdxVersion"] == "SPDX-2.3" and d["dataLicense"] == "CC0-1.0" and d["SPDXID"] == "SPDXRef-DOCUMENT", "head")
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", d["creationInfo"]["created"]) and d["documentNamespace"].startswith("https://"), "head")
    things = d["packages"] + d.get("files", [])
    ids = {t["SPDXID"] for t in things}
    expect(len(ids) == len(things) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", i) for i in ids), "ids are not all different")
    related = {r["relatedSpdxElement"] for r in d["relationships"]}
    expect(related == ids, "relations lead to other things:", related ^ ids)
    for p in d["packages"]:
        expect(p["downloadLocation"] and p["licenseDeclared"] and p["versionInfo"], p)
    return d, {p["name"]: p["versionInfo"] for p in d["packages"]}


def source_package(path):
    for name in (path, path.resolve()):
        done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True)
        if done.returncode == 0:
            binary = done.stdout.split(": ")[0]
            return subprocess.run(["dpkg-query", "-W", "-f=${source:Package}\t${source:Version}", binary], capture_output=True, text=True).stdout.split("\t")
    raise AssertionError(f"{path} is of no package")


def check_program():
    d, packages = check_document(sbom("program", BUILD))
    root = d["packages"][0]
    expect(root["checksums"][0]["checksumValue"] == hashlib.sha256((BUILD / "deuteron").read_bytes()).hexdigest(), "another program")
    linked = re.findall(r"=> (/\S+)", subprocess.run(["ldd", BUILD / "deuteron"], capture_output=True, text=True).stdout)
    expect(len(linked) > 5, linked)
    for library in linked:
        name, version = source_package(pathlib.Path(library))
        expect(packages.get(name) == version, library, "is of", name, version, "and the document has", packages.get(name))
    sources = "".join(p.read_text() for p in ROOT.glob("*/**/*.[ch]*")
                      if p.suffix in (".h", ".cpp") and p.relative_to(ROOT).parts[0] not in ("build", "tests", "bench", "python") and "_test" not in p.name)
    for name, include in HEADER_ONLY.items():
        expect((f"#include <{include}" in sources) == (name in packages), name, "is named wrongly")
    lock = json.loads((ROOT / "inspect/page/package-lock.json").read_text())["packages"]
    for name in json.loads((ROOT / "inspect/page/package.json").read_text())["dependencies"]:
        expect(packages.get(name) == lock[f"node_modules/{name}"]["version"], name)
    expect("newlib" in packages, "the board runners link newlib")
    expect(sbom("program", BUILD) == sbom("program", BUILD), "not the same twice")
    return len(linked), len(packages)


def check_firmware(folder):
    project = folder / "fw"
    program = ROOT / "tests/carried/programs/0.1.0/digits_cortex-m55.pte"
    for command in ([TOOL, "firmware", program, "--board", "mps3-an547", "-o", project], ["cmake", "-S", project, "-B", project / "build"]):
        subprocess.run(command, check=True, capture_output=True)
    unbuilt = subprocess.run([sys.executable, ROOT / "tools/sbom.py", "firmware", project], capture_output=True, text=True)
    expect(unbuilt.returncode != 0 and "is not built" in unbuilt.stderr, "an unbuilt project has a bill")
    subprocess.run(["cmake", "--build", project / "build"], check=True, capture_output=True)
    d, packages = check_document(sbom("firmware", project))
    named = {f["fileName"]: f["checksums"][1]["checksumValue"] for f in d["files"]}
    there = {f"./{p.relative_to(project)}": hashlib.sha256(p.read_bytes()).hexdigest() for p in project.rglob("*")
             if p.is_file() and p.relative_to(project).parts[0] != "build"}
    expect(named == there, "other files:", sorted(named.items() ^ there.items())[:3])
    image = next(p for p in (project / "build").rglob("*") if p.is_file() and p.read_bytes()[:4] == b"\x7fELF" and p.suffix in ("", ".elf"))
    symbols = subprocess.run(["arm-none-eabi-nm", image], capture_output=True, text=True).stdout
    for name, pattern in IMAGE_SYMBOLS.items():
        expect(bool(re.search(pattern, symbols, re.M)) == (name in packages), name, "is named wrongly:", sorted(packages))
    return len(named), len(packages)


def main():
    for needed in ("dpkg", "ninja", "arm-none-eabi-nm", "ldd"):
        if not shutil.which(needed):
            print(f"left out: there is no {needed}")
            return 77
    libraries, of_program = check_program()
    print(f"program: {libraries} libraries of the loader are in {of_program} packages")
    with tempfile.TemporaryDirectory() as folder:
        files, of_firmware = check_firmware(pathlib.Path(folder))
    print(f"firmware: {files} files, {of_firmware} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
