#!/usr/bin/env bash
# Scores all runs that MCPAgentBench published (76 files, 13,680 predictions) by every suite, and says how long it took.
#
#   bash benches/suites.sh RESULTS OUT
#
# RESULTS is the folder results of zixianglhhh/MCPAgentBench, commit 96cfaa607014cdd8d6083ceed781c1b8fc0ac7d1; its files may be
# gzipped. References and scores go to the folder OUT: the second time it is warm. m3 is the release build, or $M3.
set -euo pipefail
results="$1"
out="$2"
m3="${M3:-$(dirname "${BASH_SOURCE[0]}")/../target/release/m3}"
mkdir -p "$out"
suites=()
for suite in mcpagentbench mcpagentbench:published mcptoolbenchpp bfcl mcp-bench mcp-agentbench; do
    suites+=(--suite "$suite")
done
models=$(find "$results" -name '*_run1_results.json*' | sed 's/_run1_results.json.*//' | sort)
for model in $models; do
    runs=("$model"_run[1-4]_results.json*)
    name="$out/$(basename "$(dirname "$model")")-$(basename "$model")"
    [ -e "$name.references.json" ] || "$m3" import -q "${runs[0]}" --references "$name.references.json"
done
SECONDS=0
files=0
for model in $models; do
    runs=("$model"_run[1-4]_results.json*)
    name="$out/$(basename "$(dirname "$model")")-$(basename "$model")"
    repeats=()
    for run in "${runs[@]:1}"; do repeats+=(--repeat "$run"); done
    "$m3" score -q "${runs[0]}" "$name.references.json" "${repeats[@]}" "${suites[@]}" --out "$name.score.json"
    files=$((files + ${#runs[@]}))
done
echo "$files files in $SECONDS s"
