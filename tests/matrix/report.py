"""The table of what was seen, and the section of cellfs.5."""

from textwrap import wrap

HEAD = """.Sh WHAT TOOLS DO
How many versions a command adds to a cell that is there; each is tried by the
tests.
Its status, the bytes, mode, owner and time of modification, and what it leaves
beside the cell, are what they are in any other directory, but for what is
refused, that truncating to the same size changes no time, and that two writers
never mix.
"""


def number(row):
    """Under which number of versions the manual has the row."""
    if row.differs and row.rc:
        return "refused"
    if row.value is None:
        return "all go"
    return str(row.adds)


def names(entries):
    """Tools with their ways; shells that do the same stand together."""
    ways = {}
    for row in entries:
        ways.setdefault(row.tool, []).append(row.how)
    alike = {}
    for tool, hows in ways.items():
        alike.setdefault(", ".join(hows), []).append(tool)
    return "; ".join(f"{tool}{hows}" if hows[:1] in ("", ",") else f"{tool} {hows}"
                     for hows, tools in alike.items()
                     for tool in ([", ".join(tools)] if "bash" in tools else tools))


def man(all_rows):
    groups = {}
    for group, row in all_rows:
        groups.setdefault(group, {}).setdefault(number(row), []).append(row)
    out = HEAD
    for group, numbers in groups.items():
        out += f".Ss {group}\n.Bl -tag -width refused -compact\n"
        for which, entries in sorted(numbers.items()):
            out += f".It {which}\n" + "\n".join(wrap(names(entries), 79, break_on_hyphens=False,
                                                     break_long_words=False)) + "\n"
        out += ".El\n"
    return out


def shown(value):
    text = "none" if value is None else repr(value)[1:-1].replace("|", "\\|")
    return text if len(text) <= 24 else text[:24] + "..."


def line(name, cell, cases):
    """One line for the cases of a row on a cell that is there, or is not."""
    case, seen, _, _ = cases[0]
    after = seen.after
    fault = sum(bool(wrong) for _, _, wrong, _ in cases)
    return [name, cell, seen.rc, shown(after.value),
            f"{len(seen.before.stamps)} to {len(after.stamps)}",
            "" if after.mode is None else f"{after.mode:o}", after.mtime or "",
            " ".join(after.left), f"{fault} of {len(cases)} wrong" if fault else f"{len(cases)}"]


def table(seen):
    """Markdown: what was seen of each row, the cases that were alike as a number."""
    rows = {}
    for entry in seen:
        case = entry[0]
        cell = "none" if case.state == "new" else "there"
        rows.setdefault((case.row.name, cell), []).append(entry)
    lines = [["command", "cell", "status", "bytes", "versions", "mode", "mtime", "beside it",
              "cases"], ["---"] * 9]
    lines += [line(*key, sorted(cases, key=lambda c: c[0].state != "history"))
              for key, cases in rows.items()]
    return "".join("| " + " | ".join(map(str, cells)) + " |\n" for cells in lines)
