"""Writes C programs that call printf and scanf with random formats, and what a log of them must say.

    formats.py SEED CALLS DIRECTORY

formats_0.c, formats_1.c, ... have the calls, formats.expected a line for each: what the log's line
begins with, up to the end of the arguments that the format asks for.
"""
import random
import sys

PAGE = 0x10000000  # readable and writable, at a fixed address; nothing is mapped behind it
PAGE_SIZE = 0x1000
FILES = 4
OUTPUT = 100  # a descriptor of /dev/null

STRINGS = ["", "a", "two words", "quote\"back\\", "tab\tnl\nbell\a", "1234567890" * 6, "100%d",
           "\x01\x7f", "\xe9\xff", "'single'"]
WIDE = ["", "w", "wide text", "a\u00e9\u4e2d\n", "quote\"\\"]


def escaped(text, hexadecimal=False):
    """As it is written in the log and, all the same, in C."""
    names = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r",
             "\\": "\\", '"': '"'}
    out = ""
    for c in text:
        if c in names:
            out += "\\" + names[c]
        elif " " <= c <= "~":
            out += c
        elif hexadecimal and ord(c) >= 0x80:
            out += "\\u%04x" % ord(c)
        else:
            out += "\\%03o" % ord(c)
    return '"' + out + '"'


def character(c):
    if c == "\0":
        return "'\\0'"
    if c == "'":
        return "'\\''"
    return "'" + escaped(c)[1:-1].replace('\\"', '"') + "'"


def shortest(value):
    return repr(value)


def hexadecimal(value):
    if value in (float("inf"), float("-inf")) or value != value:
        return repr(value)
    mantissa, exponent = value.hex().split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return mantissa + "p" + exponent


def c_float(value):
    if value != value:
        return "__builtin_nan(\"\")"
    if value in (float("inf"), float("-inf")):
        return ("-" if value < 0 else "") + "__builtin_inf()"
    return "(" + value.hex() + ")"


class Argument:
    def __init__(self, code, shown):
        self.code, self.shown = code, shown


class Printer:
    """Formats of printf(3)."""

    LENGTHS = [("hh", 1), ("h", 2), ("", 4), ("l", 8), ("ll", 8), ("j", 8), ("z", 8), ("t", 8)]

    def __init__(self, rng):
        self.rng = rng

    def integer(self, size, signed):
        rng = self.rng
        bits = size * 8
        value = rng.choice([0, 1, -1, 255, 10000, -10001, rng.getrandbits(bits),
                            rng.getrandbits(bits) - (1 << (bits - 1)), 1 << (bits - 1)])
        value %= 1 << bits
        if signed and value >> (bits - 1):
            value -= 1 << bits
        # What is passed is promoted to an int, or is the word itself; above that is anything.
        passed = value % (1 << bits)
        if size < 4:
            passed |= rng.getrandbits(32 - bits) << bits
        code = "%dU" % passed if size <= 4 else "0x%xUL" % passed
        return code, value

    def number(self):
        """A conversion of a whole number: (length and letter, argument)."""
        length, size = self.rng.choice(self.LENGTHS)
        letter = self.rng.choice("diuxXo")
        code, value = self.integer(size, letter in "di")
        if letter in "diu":
            shown = str(value)
        elif letter in "xX":
            shown = "0x%x" % value if value else "0"
        else:
            shown = "0%o" % value
        return length + letter, Argument(code, shown)

    def real(self):
        rng = self.rng
        if rng.random() < 0.2:
            value = rng.randrange(-10 ** 9, 10 ** 9) / 8
            return "L" + rng.choice("eEfFgG"), Argument("(long double)" + c_float(value), shortest(value))
        value = rng.choice([0.0, -0.0, 1.5, 0.1, 1e100, -1e-7, 1e15, 1e16, 123456789.0,
                            float("inf"), float("-inf"), rng.random(), rng.uniform(-1e6, 1e6),
                            rng.random() * 10.0 ** rng.randrange(-300, 300)])
        if rng.random() < 0.15:
            return rng.choice("aA"), Argument(c_float(value), hexadecimal(value))
        return rng.choice(["", "l"]) + rng.choice("eEfFgG"), Argument(c_float(value),
                                                                      shortest(value))

    def text(self):
        """(precision, conversion, arguments): the precision may be an argument of its own."""
        rng = self.rng
        wide = rng.random() < 0.2
        kind = rng.random()
        if kind < 0.08:
            return rng.choice(["", ".3"]), "ls" if wide else "s", [Argument("(char *)0", "nil")]
        if kind < 0.2 and not wide:  # ends with the mapping, without a NUL
            size = rng.randrange(1, 10)
            content = "0123456789abcdef"[16 - size:]
            return self.precision(size, Argument("(char *)0x%x" % (PAGE + PAGE_SIZE - size),
                                                 escaped(content)))
        content = rng.choice(WIDE if wide else STRINGS)
        code = ("L" if wide else "") + (wide_literal(content) if wide else escaped(content))
        if rng.random() < 0.4:
            size = rng.randrange(0, 12)
            shown = ("L" if wide else "") + escaped(content[:size], wide)
            precision, letter, arguments = self.precision(size, Argument(code, shown))
            return precision, "ls" if wide else letter, arguments
        shown = ("L" if wide else "") + escaped(content, wide)
        return "", rng.choice(["ls", "S"]) if wide else "s", [Argument(code, shown)]

    def precision(self, size, argument):
        if self.rng.random() < 0.5:
            return ".*", "s", [Argument(str(size), str(size)), argument]
        return "." + (str(size) if size or self.rng.random() < 0.5 else ""), "s", [argument]

    def other(self):
        rng = self.rng
        kind = rng.randrange(4)
        if kind == 0:
            c = rng.choice(["a", "\n", "\0", "'", "\\", "\xe9", '"'])
            return "c", Argument(str(ord(c) + 256 * rng.randrange(100)), character(c))
        if kind == 1:
            c = rng.choice("x\u00e9\u4e2d")
            return rng.choice(["lc", "C"]), Argument(
                str(ord(c)), "L'" + (c if c < "\x80" else "\\u%04x" % ord(c)) + "'")
        if kind == 2:
            value = rng.choice([0, 1, 0xdeadbeef, 1 << 47])
            return "p", Argument("(void *)0x%x" % value, "0x%x" % value if value else "nil")
        at = PAGE + 8 * rng.randrange(8)
        return rng.choice(["n", "hhn", "ln"]), Argument("(void *)0x%x" % at, "0x%x" % at)

    def conversion(self):
        """(flags width precision as the format has them, letters, arguments in order)."""
        rng = self.rng
        head, before = "", []
        head += "".join(rng.sample("-+ #0'", rng.choice([0, 0, 0, 1, 2])))
        if rng.random() < 0.2:
            width = rng.randrange(-20, 20)
            head += "*"
            before.append(Argument(str(width), str(width)))
        elif rng.random() < 0.3:
            head += str(rng.randrange(1, 30))
        kind = rng.random()
        if kind < 0.25:
            precision, letters, arguments = self.text()
            return head + precision, letters, before + arguments
        if kind < 0.75:
            if rng.random() < 0.15:
                value = rng.randrange(-3, 12)
                head += ".*"
                before.append(Argument(str(value), str(value)))
            elif rng.random() < 0.2:
                head += "." + rng.choice(["", "0", "3", "10"])
            letters, argument = self.number() if kind < 0.5 else self.real()
        else:
            letters, argument = self.other()
        return head, letters, before + [argument]

    def literal(self):
        return self.rng.choice(["", "", " ", "text ", "%%", "100%% ", ", ", "\n", "\t|", "\x1b", "\xe9"])

    def format(self):
        rng = self.rng
        parts, arguments = [], []
        wanted = rng.choice([0, 1, 1, 2, 2, 3, 4, 5, 6, 8, 12, 20, 28])
        while len(arguments) < wanted:
            head, letters, more = self.conversion()
            if len(arguments) + len(more) > 30:
                break
            arguments += more
            parts.append(self.literal() + "%" + head + letters)
        parts.append(self.literal())
        return "".join(parts), arguments

    def positional(self):
        """%2$d %1$s: each argument at least once, in any order."""
        rng = self.rng
        arguments, used = [], []
        for _ in range(rng.randrange(1, 8)):
            head, letters, more = self.conversion()
            for _ in range(2):  # a star is an argument that says where it is
                at = len(arguments) + 1
                if "*" in head:
                    head = head.replace("*", "\0%d$" % at, 1)
                    arguments.append(more.pop(0))
            head = head.replace("\0", "*")
            arguments += more
            used.append("%%%d$%s%s" % (len(arguments), head, letters))
        rng.shuffle(used)
        return self.literal() + " ".join(used), arguments


def wide_literal(text):
    """wchar_t has no \\u below U+00A0 in C."""
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else "\\x%x\" L\"" % ord(c)
                         for c in text) + '"'


class Scanner:
    """Formats of scanf(3), inputs for them, and what is stored."""

    def __init__(self, rng):
        self.rng = rng

    def call(self):
        rng = self.rng
        parts, inputs, arguments = [], [], []
        fails_at = rng.randrange(12)
        stored = 0
        failed = False
        last = None # the argument of the last conversion that has stored something, and its address
        uncertain = False # whether all behind that one has matched is not known
        for index in range(rng.randrange(1, 7)):
            at = PAGE + 0x100 * (index + 1)
            conversion, token, shown = self.conversion()
            if index == fails_at and not failed and token[:1].isdigit() and "*" not in conversion:
                token, failed = "?", True
            suppressed = "*" in conversion
            parts.append("%" + conversion)
            inputs.append(token)
            if suppressed:
                uncertain = True
                continue
            arguments.append(Argument("(void *)0x%x" % at, "0x%x" % at if failed else shown))
            if not failed:
                stored += 1
                uncertain = False
                last = (conversion, len(arguments) - 1, at)
        if rng.random() < 0.3:
            at = PAGE + 0x900
            parts.append("%n")
            count = sum(len(token) for token in inputs) + len(inputs) - 1
            unknown = failed or uncertain
            arguments.append(Argument("(void *)0x%x" % at, "0x%x" % at if unknown else str(count)))
        if last is not None and last[0] == "3c": # how many characters there were nobody says
            _, number, at = last
            arguments[number] = Argument("(void *)0x%x" % at, "0x%x" % at)
        text = " ".join(inputs)
        if failed and stored == 0 and not text:
            return self.call()
        return text, " ".join(parts), arguments

    def conversion(self):
        rng = self.rng
        kind = rng.randrange(7)
        if kind == 0:
            length, size = rng.choice(Printer.LENGTHS)
            value = rng.randrange(0, 1 << (size * 8 - 1))
            return length + rng.choice("diu"), str(value), str(value)
        if kind == 1:
            length, size = rng.choice(Printer.LENGTHS)
            value = rng.randrange(1, 1 << (size * 8 - 1))
            return length + "x", "%x" % value, "0x%x" % value
        if kind == 2:
            value = rng.randrange(0, 8000) / 8
            return rng.choice(["f", "lf", "Lf", "g", "le"]), repr(value), repr(value)
        if kind == 3:
            word = rng.choice(["word", "x", "longer-one"])
            return rng.choice(["s", "20s", "ms"]), word, escaped(word)
        if kind == 4:
            word = rng.choice(["abc", "cab"])
            return rng.choice(["[abc]", "[^ ]", "m[a-c]"]), word, escaped(word)
        if kind == 5:
            return "3c", "xyz", escaped("xyz")
        return rng.choice(["*d", "*5d"]), str(rng.randrange(1, 9999)), None


def print_call(rng, printer):
    positional = rng.random() < 0.2
    text, arguments = printer.positional() if positional else printer.format()
    code = "".join(", " + argument.code for argument in arguments)
    shown = "".join(", " + argument.shown for argument in arguments)
    literal = escaped(text)
    # In front of the format: what is passed, and what is shown.
    name, before, before_shown, wrapper = rng.choice([
        ("snprintf", "0, 0ul, ", "nil, 0, ", None),
        ("dprintf", "%d, " % OUTPUT, "%d, " % OUTPUT, None),
        ("printf", "", "", None),
        ("__printf_chk", "1, ", "1, ", None),
        ("__snprintf_chk", "0, 0ul, 1, ~0ul, ", None, None),
        ("vdprintf", "", "%d, " % OUTPUT, "list_first"),
        ("vsnprintf", "1ul, 2ul, 3ul, 4.0, 5.0, ", "nil, 0, ", "list_later"),
    ])
    if before_shown is None:
        before_shown = "nil, 0, 1, 18446744073709551615, "
    return "%s(%s%s%s);" % (wrapper or name, before, literal, code), \
        "%s(%s%s%s" % (name, before_shown, literal, shown)


def scan_call(scanner):
    text, form, arguments = scanner.call()
    code = "".join(", " + argument.code for argument in arguments)
    shown = "".join(", " + argument.shown for argument in arguments)
    return "sscanf(%s, %s%s);" % (escaped(text), escaped(form), code), \
        "sscanf(%s, %s%s" % (escaped(text), escaped(form), shown)


HEADER = """#include <stddef.h>
extern int printf(const char *, ...), dprintf(int, const char *, ...);
extern int snprintf(char *, size_t, const char *, ...), __printf_chk(int, const char *, ...);
extern int __snprintf_chk(char *, size_t, int, size_t, const char *, ...);
extern int sscanf(const char *, const char *, ...);
extern int list_first(const char *, ...);
extern int list_later(long, long, long, double, double, const char *, ...);
"""

MAIN = """#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int list_first(const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int result = vdprintf(%(output)d, format, list);
  va_end(list);
  return result;
}
int list_later(long a, long b, long c, double d, double e, const char *format, ...) {
  (void)a, (void)b, (void)c, (void)d, (void)e;
  va_list list;
  va_start(list, format);
  const int result = vsnprintf(0, 0, format, list);
  va_end(list);
  return result;
}
%(declarations)s
int main(void) {
  char *const page = mmap((void *)0x%(page)x, %(size)d, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (page == MAP_FAILED) return 1;
  memcpy(page + %(size)d - 16, "0123456789abcdef", 16);
  if (dup2(open("/dev/null", O_WRONLY), %(output)d) < 0 || dup2(%(output)d, 1) < 0) return 1;
%(calls)s
  return 0;
}
"""


def main():
    seed, calls, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    rng = random.Random(seed)
    printer, scanner = Printer(rng), Scanner(rng)
    expected = []
    for index in range(FILES):
        with open("%s/formats_%d.c" % (directory, index), "w", encoding="ascii") as source:
            source.write(HEADER + "void calls_%d(void) {\n" % index)
            for _ in range(calls // FILES):
                code, shown = scan_call(scanner) if rng.random() < 0.1 else print_call(rng, printer)
                source.write("  " + code + "\n")
                expected.append(shown)
            source.write("}\n")
    with open(directory + "/formats_main.c", "w", encoding="ascii") as source:
        source.write(MAIN % {
            "output": OUTPUT, "page": PAGE, "size": PAGE_SIZE,
            "declarations": "".join("void calls_%d(void);\n" % index for index in range(FILES)),
            "calls": "".join("  calls_%d();\n" % index for index in range(FILES))})
    with open(directory + "/formats.expected", "w", encoding="ascii") as file:
        file.write("\n".join(expected) + "\n")


if __name__ == "__main__":
    main()
