"""Runs the commands of a document: every line of its ```sh blocks, in order, in an empty folder in which `models` is the checkout's.

document.py DOCUMENT DEUTERON
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

document, tool = sys.argv[1], os.path.abspath(sys.argv[2])
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
blocks = re.findall(r"^```sh\n(.*?)^```$", open(document, encoding="utf-8").read(), re.M | re.S)
commands = [line for block in blocks for line in block.splitlines() if line and not line.startswith("#")]
if not commands:
    sys.exit(f"{document}: no commands")
with tempfile.TemporaryDirectory() as folder:
    os.symlink(os.path.join(root, "models"), os.path.join(folder, "models"))
    for command in commands:
        words = shlex.split(command)
        if words[0] != "deuteron":
            sys.exit(f"{document}: not a command of ours: {command}")
        done = subprocess.run([tool, *words[1:]], cwd=folder, capture_output=True, text=True, timeout=300)
        if done.returncode != 0 and "built without the page" in done.stderr:
            print(f"left out: {command}: the page was not built (npm)")
            continue
        if done.returncode != 0 or not done.stdout:
            sys.exit(f"FAILED: {command}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
        for name in re.findall(r"--(?:html|csv|json|trace|etrecord) (\S+)|-o (\S+)", command):
            if os.path.getsize(os.path.join(folder, name[0] or name[1])) == 0:
                sys.exit(f"FAILED: {command}\n{name} is empty")
print(f"{len(commands)} commands")
