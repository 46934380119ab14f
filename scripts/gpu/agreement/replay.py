"""Runs every case some times, one call at a time, for Nsight Compute to be run around.

usage: replay.py LIBRARY LAUNCHES MANIFEST.json
"""
import json
import sys

from calls import Calls, cases

library, launches, manifest = sys.argv[1], int(sys.argv[2]), sys.argv[3]
calls = Calls(library)
done = []
for case in cases():
    calls.open(0, case)
    for _ in range(launches):
        calls.run(0)
    done.append({"op": case.op, "dtype": case.dtype, "dims": list(case.dims), "kernels": calls.kernels(0), "launches": launches})
    calls.close(0)
with open(manifest, "w") as file:
    json.dump(done, file)
