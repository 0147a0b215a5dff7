#!/usr/bin/env bash
# Makes `model.json` again from its sources: bash models/fidelity/train.sh FOLDER
#
# FOLDER has the labelled pairs that are not part of the repository (README.md names them). With them unchanged, the
# model comes out byte for byte as it is here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
given=${1:?the folder with the pairs of other projects}
cargo build --release --locked
m3=${CARGO_TARGET_DIR:-target}/release/m3
"$m3" fidelity --train --anew \
    "$given"/independent/{bfcl,mwoz,recog,sgd}.json "$given"/{structural,text}.json \
    "$here/pairs" -o "$here"
