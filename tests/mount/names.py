#!/usr/bin/env python3
"""The name under which a key appears, written from the manual, not from the code.

enc(key) gives a qualifier's name, enc(key, row=True) a row's: one component,
or several joined by / where it continues. As a program: key on stdin.
"""
import sys

PART, LAST = 254, {False: 235, True: 255}


def tokens(key):
    """The key cut into what may not be cut: (its bytes, whether it is text)."""
    i = 0
    while i < len(key):
        for n in (1, 2, 3, 4):
            try:
                key[i:i + n].decode()
                yield key[i:i + n], True
                break
            except UnicodeDecodeError:
                continue
        else:
            n = 1
            yield key[i:i + 1], False
        i += n


def escaped(token, text, first, row):
    plain = (text and token not in b"/%\x7f" and token >= b" "
             and not (token == b"@" and not row)
             and not (token == b"." and first))
    return token if plain else b"".join(b"%%%02X" % b for b in token)


def enc(key, row=False):
    if not key:
        return b"%"
    todo, parts = list(tokens(key)), []
    while todo:
        sizes, size = [], 0
        for i, (token, text) in enumerate(todo):
            size += len(escaped(token, text, i == 0, row))
            sizes.append(size)
        if size <= LAST[row]:
            take = len(todo)
        else:
            take = sum(s <= PART for s in sizes[:-1])
        parts.append(b"".join(escaped(t, x, i == 0, row)
                              for i, (t, x) in enumerate(todo[:take])))
        todo = todo[take:]
    return b"%/".join(parts)


if __name__ == "__main__":
    sys.stdout.buffer.write(enc(sys.stdin.buffer.read()))
