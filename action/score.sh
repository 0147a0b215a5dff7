#!/usr/bin/env bash
# What action.yml runs: scores predictions, compares them with those of the base branch, writes the job's summary and
# decides. Inputs come as INPUT_.., the rest from the variables that every runner sets.
#
# Exit codes: 0 for pass, for inconclusive unless INPUT_FAIL_ON_INCONCLUSIVE is true, and where there is nothing to compare
# with; 1 for regress, and for a --fail-under that is not met; those of m3 where it cannot score.
set -euo pipefail

m3="${INPUT_M3:-m3}"
cd "$GITHUB_WORKSPACE"
work="$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/m3.XXXXXX")"

# Options are words; several lines are one.
options=()
read -r -d '' -a options <<< "${INPUT_OPTIONS:-}" || true

output() { printf '%s=%s\n' "$1" "$2" >> "$GITHUB_OUTPUT"; }

summary() { cat >> "$GITHUB_STEP_SUMMARY"; }

# Scores predictions against the references of the working tree, with the options of the input and further ones.
score() {
    local predictions="$1"
    shift
    "$m3" score "$predictions" "$INPUT_REFERENCES" ${options[@]+"${options[@]}"} "$@"
}

# Whether m3 has written its report: also where a floor is not met (1) and where trajectories are too large (3).
is_scored() {
    case "$1" in
        0 | 1 | 3) true ;;
        *) false ;;
    esac
}

# The commit of the base branch, fetched if it is not here; nothing if the event has no base.
base_commit() {
    local branch="${INPUT_BASE:-${GITHUB_BASE_REF:-}}"
    [ -n "$branch" ] || return 0
    git rev-parse --verify --quiet "origin/$branch^{commit}" && return 0
    git fetch --quiet --depth=1 -- origin "$branch" && git rev-parse FETCH_HEAD
}

# The path of the base's predictions; nothing if there are none.
base_predictions() {
    if [ -n "${INPUT_BASE_PREDICTIONS:-}" ]; then
        printf '%s\n' "$INPUT_BASE_PREDICTIONS"
        return 0
    fi
    local commit
    commit="$(base_commit)" || return 1
    [ -n "$commit" ] || return 0
    git cat-file -e "$commit:./$INPUT_PREDICTIONS" 2> /dev/null || return 0
    mkdir "$work/base" && git archive "$commit" -- "$INPUT_PREDICTIONS" | tar -x -C "$work/base" || return 1
    printf '%s\n' "$work/base/$INPUT_PREDICTIONS"
}

code=0
score "$INPUT_PREDICTIONS" --out "$work/head.json" || code=$?
is_scored "$code" || exit "$code"
output score "$work/head.json"

decision=none
base="$(base_predictions)" || {
    echo "::error title=m3::the base branch cannot be read"
    exit 2
}
if [ -n "$base" ]; then
    base_code=0
    score "$base" --quiet --out "$work/base.json" || base_code=$?
    is_scored "$base_code" || exit "$base_code"
    compare=("$m3" compare "base=$work/base.json" "head=$work/head.json" --intersect --margin "${INPUT_MARGIN:-0}")
    [[ -z "${INPUT_METRIC:-}" ]] || compare+=(--metric "$INPUT_METRIC")
    "${compare[@]}" --out "$work/comparison.json"
    output comparison "$work/comparison.json"
    decision="$(sed -n 's/^  "decision": "\([a-z]*\)",*$/\1/p' "$work/comparison.json")"
fi
output decision "$decision"

{
    printf '## m3: %s\n\n' "$decision"
    if [ "$decision" = none ]; then
        printf 'There are no predictions of a base branch to compare with.\n\n'
    else
        "${compare[@]}" --quiet --format markdown
    fi
    printf '\n<details><summary>The score</summary>\n\n'
    score "$INPUT_PREDICTIONS" --quiet --format markdown 2> /dev/null || true
    printf '\n</details>\n'
} | summary

case "$decision" in
    pass) ;;
    none) echo "::notice title=m3::nothing to compare with" ;;
    regress)
        echo "::error title=m3::the score is worse than that of the base branch"
        exit 1
        ;;
    inconclusive)
        if [ "${INPUT_FAIL_ON_INCONCLUSIVE:-false}" = true ]; then
            echo "::error title=m3::the tasks do not tell whether the score is worse"
            exit 1
        fi
        echo "::warning title=m3::the tasks do not tell whether the score is worse"
        ;;
    *)
        echo "::error title=m3::m3 compare has no decision"
        exit 2
        ;;
esac
exit "$code"
