#!/bin/sh
# ./dev bench: the tables of the README. The last two need PyTorch and ExecuTorch, which the tests' virtual environment has.
cd "$(dirname "$0")/.."
status=0
python3 bench/spine.py build/deuteron ../shared || status=1
build/venv/bin/python bench/mobilenet.py build/deuteron ../shared 2>/dev/null || status=1
build/venv/bin/pip install -q --disable-pip-version-check tosa-tools==2026.2.1
build/venv/bin/python bench/stock_quantized.py build/deuteron ../shared 2>/dev/null || status=1
exit $status
