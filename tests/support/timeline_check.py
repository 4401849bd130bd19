#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a timeline.json against the rules of its viewers, and draws a part of it.

  timeline_check.py FILE [--stats STATS_JSON] [--expect TEXT]... [--svg OUT [--from US] [--to US]]

Rules: spans of one thread do not overlap; an arrow leaves a span, and arrives at one that begins no
earlier; samples of a counter come in order; every process and thread has a name. With --stats: the
integral of the DRAM counters equals the bytes of the run, to a part in a thousand, and the spans of a phase
its time (of a timeline of the whole run: without --timeline-window); a queue is filled and freed an entry at a time,
holds no more than it has, and is empty at the end. Each stage of a pipeline has a span for each of its work-groups.
--expect: some thread, counter or span has this in its name. Exit status 1 and a line a violation.
"""
import argparse
import collections
import json
import re
import sys


def load(path):
    with open(path) as stream:
        return json.load(stream)


class Timeline:
    def __init__(self, events):
        self.processes, self.threads = {}, {}
        self.spans = collections.defaultdict(list)  # (pid, tid) -> [(begin, end, name)], in ns
        self.counters = collections.defaultdict(list)  # (pid, name) -> [(at, value)]
        self.arrows = collections.defaultdict(list)  # id -> [(at, phase, (pid, tid))]
        for event in events:
            phase, pid = event["ph"], event.get("pid")
            if phase == "M":
                if event["name"] == "process_name":
                    self.processes[pid] = event["args"]["name"]
                elif event["name"] == "thread_name":
                    self.threads[pid, event["tid"]] = event["args"]["name"]
                continue
            at = round(event["ts"] * 1000)
            if phase == "X":
                self.spans[pid, event["tid"]].append((at, at + round(event["dur"] * 1000), event["name"]))
            elif phase == "C":
                self.counters[pid, event["name"]].append((at, event["args"]["value"]))
            elif phase in "stf":
                self.arrows[event["id"]].append((at, phase, (pid, event["tid"])))

    def errors(self):
        for place, spans in sorted(self.spans.items()):
            if place not in self.threads or place[0] not in self.processes:
                yield f"{place}: a thread without a name"
            spans.sort()
            overlaps = [(a, b) for a, b in zip(spans, spans[1:]) if b[0] < a[1]]
            if overlaps:
                yield f"{self.name_of(place)}: {len(overlaps)} spans overlap, first {overlaps[0][0]} and {overlaps[0][1]}"
        for (pid, name), samples in sorted(self.counters.items()):
            if any(b[0] < a[0] for a, b in zip(samples, samples[1:])):
                yield f"{self.processes.get(pid)}: samples of '{name}' out of order"
        begins = {place: {span[0] for span in spans} for place, spans in self.spans.items()}
        for number, steps in sorted(self.arrows.items()):
            steps.sort(key=lambda step: (step[0], "stf".index(step[1])))
            if steps[0][1] != "s":
                yield f"arrow {number} arrives before it leaves"
            for at, _, place in steps:
                if at not in begins.get(place, ()):
                    yield f"arrow {number} touches no span at {at} ns on {self.name_of(place)}"

    def name_of(self, place):
        return f"{self.processes.get(place[0], place[0])}/{self.threads.get(place, place[1])}"

    def names(self):
        yield from self.processes.values()
        yield from self.threads.values()
        yield from (name for _, name in self.counters)
        yield from (span[2] for spans in self.spans.values() for span in spans)

    def integral(self, name):
        """MB/s times ns, over all processes, in bytes; and what whole MB/s and ns may leave out."""
        total = error = 0
        for (_, counter), samples in self.counters.items():
            for (begin, rate), (end, _) in zip(samples, samples[1:]) if counter == name else ():
                total += rate * (end - begin)
                error += rate + (end - begin)
        return total / 1000, error / 1000


def check_bytes(timeline, stats):
    moved = {"read": 0, "write": 0}
    for key, value in stats["dram_bytes"].items():
        moved[key.rsplit("_", 1)[1]] += value
    for direction, expected in moved.items():
        drawn, error = timeline.integral(f"hbm {direction} MB/s")
        if abs(drawn - expected) > error:
            yield f"the counters of DRAM {direction}s add up to {drawn:.0f} bytes, the run moved {expected}"


def check_phases(timeline, stats):
    drawn, spans_of = collections.Counter(), collections.Counter()
    for (pid, _), spans in timeline.spans.items():
        for begin, end, name in spans if timeline.processes.get(pid) == "phases" else ():
            drawn[name] += end - begin
            spans_of[name] += 1
    for name in drawn:
        if abs(drawn[name] - stats["time_ns"][name]) > spans_of[name]:  # Each is cut to nanoseconds.
            yield f"phase {name} is drawn with {drawn[name]} ns, time_ns has {stats['time_ns'][name]}"


def check_queues(timeline):
    for (pid, name), samples in sorted(timeline.counters.items()):
        match = re.fullmatch(r"(queue .*), filled of (\d+)", name)
        if not match:
            continue
        where, entries = f"{timeline.processes.get(pid)}: {match.group(1)}", int(match.group(2))
        values = [0, *(value for _, value in samples)]
        if not 0 < max(values) <= entries:
            yield f"{where} holds {max(values)} of {entries} entries"
        if any(abs(b - a) != 1 for a, b in zip(values, values[1:])):
            yield f"{where} is not filled and freed an entry at a time"
        if values[-1] != 0:
            yield f"{where} ends with {values[-1]} entries"


def check_stages(timeline, stats):
    drawn = collections.defaultdict(set)
    for spans in timeline.spans.values():
        for _, _, name in spans:
            match = re.search(r"\bstage (\S+) wg (\d+)$", name)
            if match:
                drawn[match.group(1)].add(int(match.group(2)))
    for group in stats.get("job", {}).get("pipelines", []):
        for stage in group["stages"]:
            if drawn[stage["name"]] != set(range(stage["work_groups"])):
                yield f"of stage {stage['name']} work-groups {sorted(drawn[stage['name']])} are drawn, " \
                      f"it has {stage['work_groups']}"


def draw(timeline, out, begin, end):
    """An SVG of the lanes that have a span in [begin, end) us, arrows included."""
    lanes = [place for place in sorted(timeline.spans, key=timeline.name_of)
             if any(s[0] < end * 1000 and s[1] > begin * 1000 for s in timeline.spans[place])]
    width, row, left = 1400, 16, 220
    scale = (width - left) / ((end - begin) * 1000)
    x_of = lambda at: left + (at - begin * 1000) * scale
    row_of = {place: 30 + row * i for i, place in enumerate(lanes)}
    colours = ["#4878cf", "#6acc65", "#d65f5f", "#b47cc7", "#c4ad66", "#77bedb"]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{50 + row * len(lanes)}" '
             'font-family="sans-serif" font-size="10"><rect width="100%" height="100%" fill="white"/>']
    for tick in range(11):
        at = begin + (end - begin) * tick / 10
        parts.append(f'<text x="{x_of(at * 1000):.1f}" y="14">{at:.1f} us</text>')
    for place in lanes:
        y = row_of[place]
        parts.append(f'<text x="4" y="{y + 11}">{timeline.name_of(place)}</text>')
        for span in timeline.spans[place]:
            x0, x1 = max(x_of(span[0]), left), min(x_of(span[1]), width)
            if x1 <= left or x0 >= width:
                continue
            colour = colours[sum(map(ord, span[2].split(" ")[0])) % len(colours)]
            parts.append(f'<rect x="{x0:.1f}" y="{y}" width="{max(x1 - x0, 1):.1f}" height="{row - 3}" fill="{colour}"/>')
            if x1 - x0 > 7 * len(span[2]):
                parts.append(f'<text x="{x0 + 2:.1f}" y="{y + 10}" fill="white">{span[2]}</text>')
    for steps in timeline.arrows.values():
        shown = [(x_of(at), row_of[place] + 6) for at, _, place in steps
                 if place in row_of and begin * 1000 <= at <= end * 1000]
        for (x0, y0), (x1, y1) in zip(shown, shown[1:]):
            parts.append(f'<line x1="{x0:.1f}" y1="{y0}" x2="{x1:.1f}" y2="{y1}" stroke="#333" stroke-width="0.5"/>')
    with open(out, "w") as stream:
        stream.write("\n".join(parts + ["</svg>\n"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--stats")
    parser.add_argument("--expect", action="append", default=[])
    parser.add_argument("--svg")
    parser.add_argument("--from", type=float, default=0, dest="begin")
    parser.add_argument("--to", type=float)
    options = parser.parse_args()
    timeline = Timeline(load(options.file))
    errors = list(timeline.errors())
    if not timeline.spans:
        errors.append("no spans")
    if options.stats:
        stats = load(options.stats)
        errors += [*check_bytes(timeline, stats), *check_phases(timeline, stats), *check_queues(timeline),
                   *check_stages(timeline, stats)]
    names = set(timeline.names())
    errors += [f"nothing is named '{text}'" for text in options.expect if not any(text in name for name in names)]
    if options.svg:
        end = options.to or max(span[1] for spans in timeline.spans.values() for span in spans) / 1000
        draw(timeline, options.svg, options.begin, end)
    print("\n".join(errors[:20]) if errors else
          f"{sum(map(len, timeline.spans.values()))} spans on {len(timeline.spans)} lanes, "
          f"{len(timeline.counters)} counters, {len(timeline.arrows)} arrows: sound")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
