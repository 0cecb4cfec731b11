"""Logs of a fleet: of each host, calls of a thousand functions in ten intervals of ten seconds."""
import math
import random

HOSTS, FUNCTIONS, INTERVALS, CALLS = 8, 1000, 10, 3
BEGIN = 1796009100  # a multiple of ten seconds


def write_log(path, host):
    """Lines as `sonictrace -ttt -T` writes them: whole, children before the call that they are inside of."""
    chance = random.Random(host)
    slot = 10_000_000 // (FUNCTIONS * CALLS)  # us
    with open(path, "w", encoding="utf-8") as log:
        for interval in range(INTERVALS):
            order = list(range(FUNCTIONS)) * CALLS
            chance.shuffle(order)
            for place, function in enumerate(order):
                entry = (BEGIN + interval * 10) * 1_000_000 + place * slot
                took = int(math.exp(chance.uniform(0, math.log(slot - 4))))
                if took > 20 and function % 10 == 0:  # with one inside, of another function
                    log.write(line(host, entry + 5, (function + 7) % FUNCTIONS, took // 2))
                log.write(line(host, entry, function, took))


# Names that have to be quoted on their way.
NAMES = {7: "std::function<int (char)>::operator()", 8: 'operator""_frames', 9: "dr\u00fccken"}


def line(host, entry, function, took):
    library = "SYS" if function % 50 == 0 else f"libpart{function % 9}.so.1"
    name = NAMES.get(function, f"fn{function:04d}")
    return (f"{4000 + host} {entry // 1_000_000}.{entry % 1_000_000:06d} {name}@{library}"
            f"({function}, \"x\") = 0 <{took // 1_000_000}.{took % 1_000_000:06d}>\n")
