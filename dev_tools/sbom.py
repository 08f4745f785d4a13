# SPDX-License-Identifier: Apache-2.0
"""What is in the program, in a firmware project or in a wheel, as an SPDX 2.3 document (JSON): for audits, and to know what a fault elsewhere means here.

    sbom.py program BUILD [-o FILE]      BUILD: the folder in which `deuteron` was built by ninja
    sbom.py firmware FOLDER [-o FILE]    FOLDER: a project of `deuteron firmware`, built in FOLDER/build
    sbom.py wheel BUILD --wheel WHEEL    WHEEL: of auditwheel, from what was built in BUILD; the document goes into it, as PEP 770 has it

The lists come from what the build did, not from a list of ours: headers that the compiler read, libraries that the loader finds, members of archives
that the linker took (its map), files of the project. Debian's database says which package a file is of. Nothing in the document depends on when or
where it is made, but for the versions of those packages."""
import argparse
import base64
import collections
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OWN_LICENSE = "Apache-2.0"
# As the packages' own copyright files have it, of the part that is used here. Others: NOASSERTION.
LICENSES = {
    "cli11": "BSD-3-Clause", "cpython": "PSF-2.0", "eigen3": "MPL-2.0", "fmtlib": "MIT", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later",
    "libpng1.6": "libpng-2.0", "libzip": "BSD-3-Clause", "newlib": "NOASSERTION", "nlohmann-json3": "MIT", "onednn": "Apache-2.0",
    "onetbb": "Apache-2.0", "openssl": "Apache-2.0", "protobuf": "BSD-3-Clause", "flatbuffers": "Apache-2.0", "tomlplusplus": "MIT", "zlib": "Zlib",
}


def output(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True, **more).stdout


def owners(paths):
    """path: the binary package that has it, for those that one has."""
    lines = subprocess.run(["dpkg", "-S", *paths], capture_output=True, text=True).stdout.splitlines() if paths else []
    return {path: names.split(",")[0] for names, _, path in (line.partition(": ") for line in lines if not line.startswith("diversion"))}


def packages_of(paths):
    """(source package, version) of the Debian packages of system files; a file of none is a fault, not to be passed over."""
    real = {p: os.path.realpath(p) for p in paths}
    known = owners(sorted({*real, *real.values()}))
    strange = [p for p in sorted(real) if p not in known and real[p] not in known]
    if strange:
        raise SystemExit("of no Debian package, so its origin is not known: " + ", ".join(strange))
    names = sorted({known.get(p) or known[real[p]] for p in real})
    rows = output("dpkg-query", "-W", "-f=${source:Package}\t${source:Version}\n", *names) if names else ""
    return {tuple(row.split("\t")) for row in rows.splitlines()}


def archives_in_map(text):
    """Archives of which the linker took members: "/usr/lib/.../libc.a(libc_a-memcpy.o)"."""
    begin, end = text.find("Archive member included"), text.find("Discarded input sections")
    return {os.path.realpath(m) for m in re.findall(r"^(/\S+\.a)\(", text[begin:end], re.M)}


def headers_of(build, target):
    """What the compiler read for the objects of which ninja makes the target."""
    objects, headers, taken = set(output("ninja", "-C", build, "-t", "inputs", target).splitlines()), set(), False
    for line in output("ninja", "-C", build, "-t", "deps").splitlines():
        if not line.startswith(" "):
            taken = line.partition(":")[0] in objects
        elif taken:
            headers.add(os.path.normpath(build.resolve() / line.strip()))
    return headers


def image_archives(build, target):
    """Of the board runners that the program carries: their link, once more, for its map."""
    archives = set()
    with tempfile.TemporaryDirectory() as folder:
        for line in output("ninja", "-C", build, "-t", "commands", target).splitlines():
            link = re.search(r"\S*-gcc [^&]*-T\S+memory\.ld[^&]*-o \S+\.elf[^&]*", line)
            if link:
                command = re.sub(r"-o \S+\.elf", f"-o {folder}/x.elf -Wl,-Map={folder}/x.map", link[0])
                subprocess.run(command, shell=True, cwd=build, check=True, capture_output=True)
                archives |= archives_in_map(pathlib.Path(folder, "x.map").read_text())
    return archives


def version_of_project():
    return re.search(r"project\(deuteron VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def package(name, version, license_id="NOASSERTION", purl=None, **more):
    entry = {"SPDXID": identifier(f"Package-{name}"), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
             "licenseConcluded": "NOASSERTION", "licenseDeclared": license_id, "copyrightText": "NOASSERTION", **more}
    if purl:
        entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return entry


def debian(packages):
    return [package(name, version, LICENSES.get(name, "NOASSERTION"), f"pkg:deb/debian/{name}@{version}?arch=source") for name, version in sorted(packages)]


def page_scripts():
    """Scripts inside the HTML report, with the versions that the lock file fixes."""
    wanted = json.loads((ROOT / "explain/page/package.json").read_text())["dependencies"]
    locked = json.loads((ROOT / "explain/page/package-lock.json").read_text())["packages"]
    return [package(name, locked[f"node_modules/{name}"]["version"], locked[f"node_modules/{name}"].get("license", "NOASSERTION"),
                    f"pkg:npm/{name}@{locked[f'node_modules/{name}']['version']}") for name in sorted(wanted)]


def python_packages(headers):
    """Of which C++ was compiled: the interpreter, where Debian has none of it, and folders of site-packages, with the versions that stand
    beside them. A header of nobody is a fault."""
    parts, ours = [], (str(ROOT) + "/", "/usr/")
    for header in sorted(h for h in headers if h.endswith("/patchlevel.h") and not h.startswith(ours)):
        version = re.search(r'#define PY_VERSION\s+"(\S+)"', pathlib.Path(header).read_text())[1]
        parts.append(package("cpython", version, LICENSES["cpython"], f"pkg:github/python/cpython@v{version}"))
        ours = (*ours, os.path.dirname(header) + "/")
    strange = [h for h in sorted(headers) if not h.startswith(ours) and "/site-packages/" not in h]
    if strange:
        raise SystemExit("of no package that is known here: " + ", ".join(strange))
    folders = {pathlib.Path(m[1], m[2]) for h in headers if (m := re.match(r"(.*/site-packages)/([^/]+)/", h))}
    for folder in sorted(folders):
        facts = [f for f in folder.parent.glob(f"{folder.name}-*.dist-info/METADATA")]
        if len(facts) != 1:
            raise SystemExit(f"{folder}: is of no installed package, so its origin is not known")
        version = re.search(r"^Version: (\S+)", facts[0].read_text(), re.M)[1]
        parts.append(package(folder.name, version, LICENSES.get(folder.name, "NOASSERTION"), f"pkg:pypi/{folder.name}@{version}"))
    return parts


def document(root, parts, files=()):
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", root["SPDXID"])] + [(root["SPDXID"], "CONTAINS", p["SPDXID"]) for p in [*parts, *files]]
    result = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{root['name']}-{root['versionInfo']}",
              "packages": [root, *parts], "files": list(files),
              "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}
    if not files:
        del result["files"]
    digest = hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
    result["documentNamespace"] = f"https://spdx.org/spdxdocs/{result['name']}-{digest[:32]}"
    created = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", ROOT, "log", "-1", "--format=%ct").strip()
    result["creationInfo"] = {"created": datetime.datetime.fromtimestamp(int(created), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                              "creators": [f"Tool: deuteron-sbom-{version_of_project()}"]}
    return result


def loaded_by(binary):
    return set(re.findall(r"(/\S+) \(0x", output("ldd", binary)))


def system_files(paths):
    return {p for p in paths if p.startswith("/usr/")}


def program(build):
    packages = packages_of(system_files(headers_of(build, "deuteron")) | loaded_by(build / "deuteron") | image_archives(build, "deuteron"))
    checksum = hashlib.sha256((build / "deuteron").read_bytes()).hexdigest()
    root = package("deuteron", version_of_project(), OWN_LICENSE, primaryPackagePurpose="APPLICATION", checksums=[{"algorithm": "SHA256", "checksumValue": checksum}])
    return document(root, debian(packages) + page_scripts())


def file_entry(name, data):
    """The licence is what the file says of itself; models and other data say nothing."""
    said = re.search(rb"SPDX-License-Identifier: ([A-Za-z0-9.-]+)", data[:1000])
    license_id = said[1].decode() if said else "NOASSERTION"
    return {"SPDXID": identifier(f"File-{hashlib.sha256(name.encode()).hexdigest()[:16]}"), "fileName": f"./{name}",
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
            "licenseConcluded": license_id, "licenseInfoInFiles": [license_id], "copyrightText": "NOASSERTION"}


def wheel_document(build, members):
    """`members`: name: bytes, without the list of them."""
    built = build / "python/deuteron"
    loaded = {p for p in loaded_by(built / "libdeuteron.so") | loaded_by(built / "bin/deuteron") if not p.startswith(str(build.resolve()))}
    # auditwheel names what it takes along `libzip-5c554ca2.so.4.0`, and changes the file.
    known = {os.path.basename(os.path.realpath(p)).partition(".so")[0] for p in loaded}
    for name in members:
        inside = re.fullmatch(r"[^/]+\.libs/(.+)-[0-9a-f]{8}\.so[.0-9]*", name)
        if inside and inside[1] not in known:
            raise SystemExit(f"{name}: {built}/libdeuteron.so does not load it, so the wheel is not made from this folder")
    headers = headers_of(build, "python_package")
    packages = packages_of(system_files(headers) | loaded | image_archives(build, "python_package"))
    version = version_of_project()
    root = package("deuteron", version, OWN_LICENSE, purl=f"pkg:pypi/deuteron@{version}", primaryPackagePurpose="LIBRARY")
    return document(root, debian(packages) + python_packages(headers) + page_scripts(), [file_entry(n, members[n]) for n in sorted(members)])


def license_texts(build, parts):
    """{name: text}: what the licences of others ask to be handed on, for each package of the document that has such a file."""
    texts = {}
    binaries = collections.defaultdict(list)
    packages = {pathlib.Path(m[1]) for h in headers_of(build, "python_package") if (m := re.match(r"(.*/site-packages)/", h))}
    for row in output("dpkg-query", "-W", "-f=${source:Package}\t${Package}\n").splitlines():
        source, _, binary = row.partition("\t")
        binaries[source].append(binary)
    for part in parts:
        purl, name = part["externalRefs"][0]["referenceLocator"], part["name"]
        if purl.startswith("pkg:deb/"):
            places = [pathlib.Path("/usr/share/doc", b, "copyright") for b in sorted(binaries[name])]
        elif purl.startswith("pkg:npm/"):
            places = sorted((build / "page/node_modules" / name).glob("LICENSE*"))
        else:
            places = [f for p in sorted(packages) for f in sorted(p.glob(f"{name}-*.dist-info/licenses/LICENSE*"))]
        found = next((p for p in places if p.is_file()), None)
        if found:
            texts[name] = found.read_bytes()
    return texts


def wheel(build, path):
    """Document and licences of others go into the wheel, and into its list of files with their hashes (PEP 427)."""
    with zipfile.ZipFile(path) as old:
        entries = [(info, old.read(info)) for info in old.infolist()]
    record = next(info for info, _ in entries if re.fullmatch(r"[^/]+\.dist-info/RECORD", info.filename))
    facts = os.path.dirname(record.filename)
    place, others = f"{facts}/sboms/deuteron.spdx.json", f"{facts}/licenses/others/"
    entries = [(info, data) for info, data in entries if info.filename != place and not info.filename.startswith(others)]
    members = {info.filename: data for info, data in entries if not info.is_dir() and info is not record}
    parts = wheel_document(build, members)["packages"][1:]
    added = {f"{others}{name}.txt": text for name, text in sorted(license_texts(build, parts).items())}
    members |= added
    added[place] = (json.dumps(wheel_document(build, members), indent=1) + "\n").encode()
    fresh = path.with_suffix(".new")
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as new:
        for info, data in entries:
            if info is record:
                rows = [row for row in data.decode().splitlines() if not row.startswith((place + ",", others))]
                for name, text in added.items():
                    digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
                    rows.append(f"{name},sha256={digest},{len(text)}")
                    member = zipfile.ZipInfo(name, record.date_time)
                    member.external_attr, member.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
                    new.writestr(member, text)
                data = "".join(row + "\n" for row in rows).encode()
            new.writestr(info, data)
    fresh.replace(path)
    return added[place].decode()


def firmware(folder):
    maps = sorted(folder.glob("build/**/*.map"))
    if not maps:
        raise SystemExit(f"{folder}: is not built, so what is linked is not known: cmake -S {folder} -B {folder}/build && cmake --build {folder}/build")
    archives = set().union(*(archives_in_map(m.read_text()) for m in maps))
    outside = {a for a in archives if not a.startswith(str(folder.resolve()))}
    files = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_relative_to(folder / "build")):
        files.append(file_entry(path.relative_to(folder).as_posix(), path.read_bytes()))
    root = package("deuteron-firmware", version_of_project(), OWN_LICENSE, primaryPackagePurpose="FIRMWARE")
    return document(root, debian(packages_of(outside)), files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=["program", "firmware", "wheel"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--wheel", type=pathlib.Path, help="for `wheel`")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    if (options.kind == "wheel") != bool(options.wheel):
        parser.error("--wheel goes with `wheel`")
    if options.kind == "wheel":
        text = wheel(options.folder, options.wheel)
        if not options.output:
            return 0
    else:
        text = json.dumps({"program": program, "firmware": firmware}[options.kind](options.folder), indent=1) + "\n"
    if options.output:
        options.output.write_text(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
