#!/usr/bin/env bash
# Scores the twelve models that MCPAgentBench ran with 20 tools by several suites, and says how far these agree: the picture
# and the figures of docs/suites.md.
#
#   bash benches/agree.sh RESULTS OUT
#
# RESULTS is results/tool20 of zixianglhhh/MCPAgentBench, commit 96cfaa607014cdd8d6083ceed781c1b8fc0ac7d1; its files may be
# gzipped. Scores go to the folder OUT, the picture to OUT/agree.svg. m3 is the release build, or $M3.
set -euo pipefail
results="$1"
out="$2"
m3="${M3:-$(dirname "${BASH_SOURCE[0]}")/../target/release/m3}"
mkdir -p "$out"
models=$(find "$results" -name '*_general_test_run1_results.json*' | sed 's/_run1_results.json.*//' | sort)
scores=()
for model in $models; do
    name=$(basename "$model" _general_test)
    runs=("$model"_run[1-4]_results.json*)
    [ -e "$out/references.json" ] || "$m3" import "${runs[0]}" --references "$out/references.json"
    score="$out/${name#*_}.score.json"
    "$m3" score "${runs[0]}" "$out/references.json" --repeat "${runs[1]}" --repeat "${runs[2]}" --repeat "${runs[3]}" \
        --suite mcpagentbench --suite bfcl --out "$score"
    scores+=("${name#*_}=$score")
done
"$m3" agree "${scores[@]}" --metric mcpagentbench.tfs --metric mcpagentbench.tefs --metric bfcl.ast \
    --metric m3.average --picture "$out/agree.svg"
