#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh DEUTERON: compiles the trained digits model, runs it on the host and on an emulated Cortex-M55, and prints what it costs and how
# accurate it is.
set -eu
cd "$(dirname "$0")/.."
tool=$1
model=models/digits_cnn
out=build/demo
mkdir -p "$out"

echo "== compile: float .pt2 -> int8 .pte for Cortex-M55"
$tool compile $model/float.pt2 --target cortex-m55 --calibrate $model/calibrate.npy -o $out/digits.pte
echo
echo "== evaluate: 719 real test images, host"
$tool evaluate $out/digits.pte --inputs $model/test_inputs.npy --labels $model/test_labels.npy --model $model/float.pt2
echo
echo "== run: the same program on the host and on an emulated Cortex-M55"
$tool run $out/digits.pte --input $model/calibrate.npy --output-dir $out/host
$tool run $out/digits.pte --input $model/calibrate.npy --output-dir $out/board --on qemu:mps3-an547
cmp $out/host/output0.npy $out/board/output0.npy && echo "host and board: identical bits"
