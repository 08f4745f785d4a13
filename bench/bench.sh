#!/bin/sh
# ./dev bench: the tables of the README.
set -eu
cd "$(dirname "$0")/.."
python3 bench/spine.py build/deuteron ../shared
