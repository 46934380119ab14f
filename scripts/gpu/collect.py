"""Joins our times (ours.jsonl) and PyTorch's (torch.json, where present) in one result file with the machine and the commit.

usage: collect.py FOLDER RESULT COMMIT
"""
import datetime
import json
import pathlib
import subprocess
import sys

folder, result, commit = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
rows = [json.loads(line) for line in (folder / "ours.jsonl").read_text().splitlines()]
torch_file = folder / "torch.json"
torch = json.loads(torch_file.read_text()) if torch_file.exists() else None
theirs = {(r["op"], r["dtype"], tuple(r["dims"])): r for r in torch["rows"]} if torch else {}
for row in rows:
    other = theirs.get((row["op"], row["dtype"], tuple(row["dims"])))
    if other:
        row["torchColdUs"], row["torchHotUs"] = other["coldUs"], other["hotUs"]
query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
gpu = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip().splitlines()
record = {
    "machine": gpu[0] if gpu else "unknown",
    "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    "commit": commit,
    "torch": torch["torch"] if torch else None,
    "method": "cold: L2 emptied by reading 2x its size before every call, CUDA events, stream held while queueing; medians in microseconds",
    "rows": rows,
}
with open(result, "w") as out:
    head = json.dumps({k: v for k, v in record.items() if k != "rows"}, indent=1)[:-2]
    out.write(head + ',\n "rows": [\n' + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]\n}\n")
print(result)
