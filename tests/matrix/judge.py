"""What is wrong with what was seen: nothing, or lines that say it."""

from places import FAMILIES, HELD, family, read
from rows import ANY


def values(row, state):
    """The newest values that the row promises; [None] where no cell is left."""
    held = HELD[state]
    promised = row.value if isinstance(row.value, tuple) else (row.value,)
    if promised == ("{old}",) and not held:
        return [None]
    old = held[0] if held else ""
    return [v.replace("{old}", old) if isinstance(v, str) else v for v in promised]


def promised(row, state, cell):
    """The row in the words of a Sight, and the status."""
    value = values(row, state)[0]
    want = dict(rc=row.rc, value=value, mode=None, mtime=None, left=tuple(sorted(
        name.split("=")[0].replace("{q}", cell.name) for name in row.left.split())))
    if value is not None:
        want["mode"] = row.mode or (0o640 if HELD[state] else 0o644)
        want["mtime"] = row.mtime
    return want


def unlike(want, seen, whose):
    for field, wanted in want.items():
        got = seen.field(field)
        if wanted != ANY and got != wanted:
            yield f"{field}: {got!r:.200}, {whose} {wanted!r:.200}"


def unlike_plain(row, seen, plain):
    """Where it differs from a plain directory, but for what the row names."""
    fields = {"rc", "value", "mode", "owner", "mtime", "left"} - set(row.differs.split())
    if row.value == ANY:
        fields.discard("value")
    want = {field: plain.field(field) for field in sorted(fields)}
    return unlike(want, seen, "in a plain directory")


def wrong_versions(row, state, cell, seen):
    """As many versions more as promised, the older ones as they were."""
    limit, after = FAMILIES[family(state)], seen.after.stamps
    ended = row.anew or seen.after.value is None
    held = [] if ended else HELD[state]
    before = () if ended else seen.before.stamps
    kept = max(0, min(len(before), limit - row.adds))
    added = min(row.adds, limit)
    if len(after) != added + kept or after[added:] != before[:kept] \
            or set(after[:added]) & set(seen.before.stamps):
        yield f"versions: {after}, promised {added} more above {before[:kept]}"
        return
    found = [read(f"{cell.path}@{stamp}") for stamp in after]
    newest = values(row, state)[:added]
    want = newest + found[len(newest):added] + held[:kept]
    if any(w != ANY and w != f for w, f in zip(want, found)):
        yield f"values of versions: {found!r:.200}, promised {want!r:.200}"


def wrong_beside(row, state, cell, seen):
    """Names left have the newest value only, or the whole history."""
    for name in row.left.split():
        name, _, number = name.replace("{q}", cell.name).partition("=")
        versions = seen.versions_beside.get(name)
        want = len(seen.before.stamps) if number == "all" \
            else min(int(number or 1), FAMILIES[family(state)])
        if "/" not in name and not name.startswith(".") and versions != want:
            yield f"{name}: {versions} versions, promised {want}"


def wrong(row, state, cell, seen, plain):
    yield from unlike(promised(row, state, cell), seen, "promised")
    yield from unlike_plain(row, seen, plain)
    yield from wrong_versions(row, state, cell, seen)
    yield from wrong_beside(row, state, cell, seen)
