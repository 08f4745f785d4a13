# SPDX-License-Identifier: Apache-2.0
"""What the site has beside docs/: the files of the repository's root, the sources that pages link to, and pages that the program makes.

Called by mkdocs (mkdocs.yml). DEUTERON is the program (build/deuteron), FIXTURES the folder with models for the gallery.
"""
import os
import pathlib
import posixpath
import re
import subprocess
import sys

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "dev_tools/site"))
import gallery  # noqa: E402
import made  # noqa: E402

TOOL = os.environ.get("DEUTERON", str(ROOT / "build/deuteron"))
FIXTURES = pathlib.Path(os.environ.get("FIXTURES", ROOT / "tests/carried"))
# file of the root: page
ROOT_PAGES = {"README.md": "index.md", **{name: f"root/{name}" for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")}}
LINK = re.compile(r"(?P<before>\]\()(?P<path>[^)#\s]+)(?P<after>(?:#[^)\s]*)?\))")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"
LANGUAGES = {".h": "cpp", ".cpp": "cpp", ".py": "python", ".toml": "toml", ".sh": "bash"}


def outside_fences(function, text):
    """`text` with `function` applied to what is not a block of code."""
    out, at = "", 0
    for fence in FENCE.finditer(text):
        out += function(text[at:fence.start()]) + fence.group(0)
        at = fence.end()
    return out + function(text[at:])


def page_of(path):
    """The page of the site that shows a file of the repository, given by its path from the root; None if it is none."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    if path.startswith("docs/"):
        inner = path[len("docs/"):]
        return posixpath.join(inner, "index.md") if (ROOT / path).is_dir() else inner
    return f"source/{path}.md" if (ROOT / path).is_file() else None


def rewrite(text, path, page, sources):
    """The links of a file of the repository as links of its page. Files that are not in docs/ are added to `sources`."""
    def link(match):
        target = match["path"]
        if re.match(r"[a-z]+:", target):
            return match.group(0)
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        to = page_of(file)
        if to is None:
            return match.group(0)  # mkdocs says that it leads nowhere
        if to.startswith("source/"):
            sources.add(file)
        return match["before"] + posixpath.relpath(to, posixpath.dirname(page) or ".") + match["after"]
    return outside_fences(lambda part: LINK.sub(link, part), text)


def on_files(files, config):
    sources = set()
    add = lambda uri, content: files.append(File.generated(config, uri, content=content))
    for name, page in ROOT_PAGES.items():
        text = rewrite((ROOT / name).read_text(encoding="utf-8"), name, page, sources)
        add(page, UNSEARCHED + text if name == "CHANGELOG.md" else text)
    for path in (ROOT / "docs").rglob("*.md"):
        name = path.relative_to(ROOT).as_posix()
        rewrite(path.read_text(encoding="utf-8"), name, name[len("docs/"):], sources)
    for name in sorted(sources):
        language = LANGUAGES.get(pathlib.Path(name).suffix, "text")
        text = (ROOT / name).read_text(encoding="utf-8")
        add(f"source/{name}.md", f"{UNSEARCHED}# {name}\n\n````{language}\n{text}\n````\n")
    add("site.css", (ROOT / "dev_tools/site/site.css").read_text())
    run = lambda *arguments: subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    for uri, text in made.pages(run).items():
        add(uri, text)
    for uri, text in gallery.pages(TOOL, FIXTURES, ROOT).items():
        add(uri, text)
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.generated_by:
        return markdown
    return rewrite(markdown, "docs/" + page.file.src_uri, page.file.src_uri, set())
