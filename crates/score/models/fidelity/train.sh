#!/usr/bin/env bash
# Makes `model.json` again from its sources: bash crates/score/models/fidelity/train.sh PAIRS BENCHMARK
#
# PAIRS is the folder with the labelled pairs that are not part of the repository (README.md names them), BENCHMARK that
# of Open-M3-Bench, whose tasks and tools give its text edits their context. With them unchanged, the model comes out byte
# for byte as it is here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
given=$(cd "${1:?the folder with the pairs of other projects}" && pwd)
benchmark=$(cd "${2:?the folder with references.json and tools.json of Open-M3-Bench}" && pwd)
cd "$here/../../../.."
context=$(mktemp -d)
trap 'rm -r "$context"' EXIT
python3 "$here/in_context.py" "$given/text.json" "$benchmark" "$context/text.in-context.json"
python3 "$here/searched.py" "$context/searched.jsonl"
cargo build --release --locked
m3=${CARGO_TARGET_DIR:-target}/release/m3
"$m3" fidelity --train --anew \
    "$given"/independent/{bfcl,mwoz,recog,sgd}.json "$given"/{structural,text}.json \
    "$here/pairs" "$context" -o "$here"
