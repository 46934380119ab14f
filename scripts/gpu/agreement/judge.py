"""Which columns should agree, and whether they do."""
import collections

Pair = collections.namedtuple("Pair", "mine other apart words")

# `apart`: the two clocks differ by an offset, that of the empty kernel.
PAIRS = [
    Pair("cold", "ncuCold", True, "cold as in a sweep, Nsight Compute with caches cleared"),
    Pair("coldPaced", "ncuCold", True, "cold with pauses, Nsight Compute with caches cleared"),
    Pair("hotOne", "ncuHot", True, "hot as in a sweep, Nsight Compute with caches left"),
    Pair("hotAlone", "ncuHot", True, "hot with pauses, Nsight Compute with caches left"),
    Pair("cold", "doBenchColdClean", False, "cold, do_bench with a flush that reads"),
    Pair("coldWrite", "doBenchCold", False, "cold with dirty lines, do_bench as it is"),
    Pair("hotOne", "doBenchHot", False, "hot, do_bench without flush"),
    Pair("graph", "doBenchGraph", False, "graph, do_bench_cudagraph"),
    Pair("cold", "coldNoStamps", False, "cold with and without clock stamps"),
    Pair("hotOne", "hotOneNoStamps", False, "hot with and without clock stamps"),
]
RULE_FROM_US, RULE_PERCENT = 50, 1
CLOCKS_DIFFER = 0.005
# Below this share of the best clock the power limit sets it, and it wanders from one moment to the next.
LIMITED = 0.97


def name_of(pair):
    return f"{pair.mine}-{pair.other}"


def compare(row, pair, offset, best_mhz):
    """
    The difference in percent; in cycles too where the clocks differ, for then the same work took another time on either
    side; whether the power limit held one of the clocks down; and, from 50 us up, whether time or cycles agree within 1 %.
    """
    us, mhz = row["us"], row["mhz"]
    found = {"percent": round(((us[pair.mine] - offset) / us[pair.other] - 1) * 100, 2)}
    clocks = [mhz[side] for side in (pair.mine, pair.other) if side in mhz]
    if len(clocks) == 2 and abs(clocks[0] / clocks[1] - 1) > CLOCKS_DIFFER:
        found["cyclesPercent"] = round(((us[pair.mine] - offset) * clocks[0] / (us[pair.other] * clocks[1]) - 1) * 100, 2)
    if clocks and min(clocks) < LIMITED * best_mhz:
        found["powerLimited"] = True
    if us[pair.other] >= RULE_FROM_US:
        found["agrees"] = min(abs(found["percent"]), abs(found.get("cyclesPercent", found["percent"]))) <= RULE_PERCENT
    return found


def figures_of(rows, empty, pairs):
    """As test/bench/bench.ts has them: what docs/measuring.md shows."""
    figures = []
    for pair in pairs:
        judged = [row["difference"][name_of(pair)] for row in rows if "agrees" in row["difference"][name_of(pair)]]
        free = [found for found in judged if not found.get("powerLimited")]
        limited = [found for found in judged if found.get("powerLimited")]
        figures.append({"name": f"{pair.words}: cases that agree", "value": sum(found["agrees"] for found in free), "unit": f"of {len(free)}", "aim": len(free), "better": "more"})
        if limited:
            figures.append({"name": f"{pair.words}: cases at the power limit that agree", "value": sum(found["agrees"] for found in limited), "unit": f"of {len(limited)}", "published": True})
    for column, words in (("cold", "cold"), ("hotOne", "hot"), ("graph", "in a graph"), ("ncuCold", "by Nsight Compute")):
        figures.append({"name": f"empty kernel, {words}", "value": empty["us"][column], "unit": "us", "published": True})
    total = next(row for row in rows if row["op"] == "sum" and row["us"]["cold"] > RULE_FROM_US)
    for column, words in (("cold", "flush reads"), ("coldWriteRead", "flush writes, then reads elsewhere"), ("coldWrite", "flush writes"), ("ncuCold", "Nsight Compute, and the offset")):
        value = total["us"][column] + (empty["us"]["cold"] - empty["us"]["ncuCold"] if column == "ncuCold" else 0)
        figures.append({"name": f"cold sum of 64M f32, {words}", "value": round(value, 2), "unit": "us", "published": True})
    return figures
