"""What bench/run says: a text table, the ratios that are claimed, and docs/PERFORMANCE.md.

The document is written by hand but for the parts between the marks <!-- NAME:begin --> and
<!-- NAME:end -->, which are replaced.
"""
import datetime
import os
import pathlib
import platform
import subprocess
import time

import plot
from servers import ROOT

DOCUMENT = ROOT / "docs" / "PERFORMANCE.md"
PLOT = ROOT / "docs" / "performance.svg"
WORKLOADS = ["get", "query20", "gsi20", "mix", "overwrite", "update", "put", "condput", "transact4", "batch25"]
COMPARED = ["disk", "memory", "dynalite", "local", "dynoxide", "local-disk", "dynoxide-disk"]


# ---- The machine -----------------------------------------------------------------------------

def sync_microseconds(directory):
    """What it takes the disk to make 1 KB durable: the median of some appended blocks."""
    took = []
    fd = os.open(directory / "sync", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for _ in range(101):
        start = time.perf_counter()
        os.write(fd, b"x" * 1024)
        os.fdatasync(fd)
        took.append(time.perf_counter() - start)
    os.close(fd)
    os.unlink(directory / "sync")
    return sorted(took)[50] * 1e6


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return " ".join(line.partition(":")[2].split())
    return platform.machine()


def machine_of(directory, full):
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    cores = os.cpu_count()
    machine = {
        "date": datetime.date.today().isoformat(),
        "command": "bench/run --report" + (" --full" if full else ""),
        "cores": cores,
        "busy": os.getloadavg()[0],
    }
    machine["text"] = (
        f"{machine['date']}, {processor()}, {cores} cores shared by server and load generator, "
        f"{memory:.0f} GB, {platform.system()} {platform.release()}, fdatasync of 1 KB "
        f"{sync_microseconds(directory):.0f} us, load average before the run {machine['busy']:.1f}")
    if machine["busy"] > cores / 2:
        machine["text"] += " (THE MACHINE WAS BUSY WITH OTHER WORK: measure again before you rely on this)"
    return machine


# ---- Figures ---------------------------------------------------------------------------------

def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}"


def text_of(row):
    lines = [f"\n{row['title']}" + (f", {row['items']:,} items, {row['gsis']} indexes" if row["items"] else "")]
    if "idle_mb" in row:
        lines[0] += f" (first answer {row['first_answer_ms']:.0f} ms, idle {row['idle_mb']:.0f} MB)"
    lines.append(f"{'':11}{'requests/s':>11}{'p50 us':>12}{'p99 us':>12}{'p99.9 us':>12}"
                 f"{'CPU us/req':>12}{'B/item':>9}{'MB':>7}{'errors':>8}")
    for name, result in row["results"].items():
        lines.append(f"{name:11}{result['per_second']:11,.0f}" + "".join(
            f"{number(result.get(key)):>{width}}" for key, width in
            [("p50_us", 12), ("p99_us", 12), ("p999_us", 12), ("cpu_us", 12), ("written_per_item", 9),
             ("resident_mb", 7)]) + f"{result['errors']:8}")
        if result["errors"]:
            lines.append(f"           first error: {result.get('first_error', '')[:200]}")
    return "\n".join(lines)


class Figures:
    """Looks figures up by server and workload; None for what was not measured."""

    def __init__(self, rows):
        self.rows = {row["key"]: row for row in reversed(rows)}

    def of(self, key, workload, what="per_second"):
        result = self.rows.get(key, {}).get("results", {}).get(workload, {})
        return result.get(what) if result.get("per_second") else None

    def about(self, key, what):
        return self.rows.get(key, {}).get(what)

    def ratio(self, one, other, what="per_second"):
        a, b = self.of(*one, what), self.of(*other, what)
        return a / b if a and b else None


# (claim, our figure, whose figure it is divided by or None, what is compared, target, kind, unit)
TARGETS = [
    ("GetItem, against {}", ("disk", "get"), "peers", "per_second", 12, "at least", "x"),
    ("Query of 20, against {}", ("disk", "query20"), "peers", "per_second", 20, "at least", "x"),
    ("Query of 20 by index, against {}", ("disk", "gsi20"), "peers", "per_second", 20, "at least", "x"),
    ("PutItem, against {}", ("disk", "put"), "peers", "per_second", 5, "at least", "x"),
    ("PutItem, against DynamoDB Local on disk", ("disk", "put"), ("local-disk", "put"), "per_second", 25,
     "at least", "x"),
    ("Server CPU of a GetItem, against nginx's fixed body", ("disk", "get"), ("nginx", "get"), "cpu_us", 2,
     "at most", "x"),
    ("GetItem, against Redis GET", ("disk", "get"), ("redis", "GET"), "per_second", 0.8, "at least", "x"),
    ("PutItem without indexes, against Redis SET, appendfsync always", ("disk-0", "put"), ("redis-aof", "SET"),
     "per_second", 0.8, "at least", "x"),
    ("Start to first answer", "disk", None, "first_answer_ms", 50, "at most", " ms"),
    ("Resident memory, idle", "disk", None, "idle_mb", 40, "at most", " MB"),
]
# The targets are for the first two; what else is measured is told without one.
PEERS = [("dynalite", "dynalite", True), ("local", "DynamoDB Local in memory", True),
         ("dynoxide", "Dynoxide in memory", False)]


def targets_of(rows):
    """(claim, figure, target, kind, unit) for each target that could be measured."""
    figures = Figures(rows)
    found = []
    for claim, ours, theirs, what, target, kind, unit in TARGETS:
        if theirs == "peers":
            for key, name, has_target in PEERS:
                ratio = figures.ratio(ours, (key, ours[1]), what)
                found.append((claim.format(name), ratio, target if has_target else None, kind, unit))
        elif theirs is None:
            found.append((claim, figures.about(ours, what), target, kind, unit))
        else:
            found.append((claim, figures.ratio(ours, theirs, what), target, kind, unit))
    return [row for row in found if row[1] is not None]


def verdict(figure, target, kind):
    if target is None:
        return ""
    return "reached" if (figure >= target if kind == "at least" else figure <= target) else "NOT REACHED"


def target_text(target, kind, unit):
    return "–" if target is None else f"{kind} {target}{unit}"


def figure_text(figure, unit):
    return f"{figure:.0f}{unit}" if figure >= 10 else f"{figure:.2f}{unit}"


def ratios_text(rows):
    lines = ["dolmen on disk, every write durable before it is answered:"]
    for claim, figure, target, kind, unit in targets_of(rows):
        goal = f"   target {target_text(target, kind, unit)}: {verdict(figure, target, kind)}" if target is not None else ""
        lines.append(f"  {claim:64} {figure_text(figure, unit):>9}{goal}")
    return "\n".join(lines)


# ---- The document ----------------------------------------------------------------------------

def section_write(name, text):
    """Replaces what stands between the marks of a section."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    document = DOCUMENT.read_text()
    head, found, rest = document.partition(begin)
    _, found_end, tail = rest.partition(end)
    if not found or not found_end:
        raise RuntimeError(f"{DOCUMENT} has no marks for '{name}'")
    DOCUMENT.write_text(f"{head}{begin}\n{text.strip()}\n{end}{tail}")


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def markdown_ratios(rows):
    return table(["Claim", "Measured", "Target", ""],
                 [[claim, figure_text(figure, unit), target_text(target, kind, unit), verdict(figure, target, kind)]
                  for claim, figure, target, kind, unit in targets_of(rows)])


def markdown_overview(rows):
    figures = Figures(rows)
    keys = [key for key in COMPARED if key in figures.rows]
    header = ["Requests per second"] + [figures.rows[key]["title"] for key in keys]
    body = [[name] + [number(figures.of(key, name)) for key in keys] for name in WORKLOADS]
    body.append(["start to first answer, ms"] + [number(figures.about(key, "first_answer_ms")) for key in keys])
    body.append(["resident memory when idle, MB"] + [number(figures.about(key, "idle_mb")) for key in keys])
    return table(header, body)


def markdown_details(rows):
    parts = []
    columns = [("requests/s", "per_second"), ("p50 µs", "p50_us"), ("p99 µs", "p99_us"),
               ("p99.9 µs", "p999_us"), ("server CPU µs/request", "cpu_us"), ("instructions/request", "instructions"),
               ("bytes written/item", "written_per_item"), ("resident MB", "resident_mb"), ("errors", "errors")]
    for row in rows:
        shown = [c for c in columns if any(c[1] in result for result in row["results"].values())]
        what = f", {row['items']:,} items, {row['gsis']} indexes" if row["items"] else ""
        parts.append(f"**{row['title']}{what}**\n\n" + table(
            [""] + [title for title, _ in shown],
            [[name] + [number(result.get(key)) for _, key in shown] for name, result in row["results"].items()]))
    return "\n\n".join(parts)


def write(figures):
    machine, rows = figures["machine"], figures["rows"]
    section_write("run", f"""
`{machine['command']}`: {machine['text']}.

{markdown_ratios(rows)}

![Requests per second of each server and workload](performance.svg)

{markdown_overview(rows)}

### Every figure

{markdown_details(rows)}
""")
    shown = Figures(rows)
    series = [(shown.rows[key]["title"], [shown.of(key, name) for name in WORKLOADS])
              for key in COMPARED if key in shown.rows]
    PLOT.write_text(plot.bars("Requests per second, 64 connections, 1 KB items, 2 indexes (logarithmic)",
                              WORKLOADS, series))
