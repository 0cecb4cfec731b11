#!/usr/bin/python3
"""Makes a prototype pack: what the headers of a C library say of the functions that it exports.

    make_pack.py PACK [--root DIRECTORY]     writes src/proto/prototypes/*.conf and
                                             tests/proto_data/PACK_functions.txt
    make_pack.py --list                      the packs

packs.json beside this file says for each pack which package, headers and libraries it is of;
lenses.txt says by hand what no declaration tells (which way a pointer points, how long a buffer is,
what a number means). The declarations come from clang's syntax tree as JSON. docs/PROTOTYPES.md
tells more. A function is left out only where its types can't be said in the grammar; the tool prints
which these are, and fails where they are more than one in twenty.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
MOST_LEFT_OUT = 0.05


class NoWord(Exception):
    """The grammar has no word for a type."""


BUILT_IN = {  # C's type -> (lens, code of tests/proto_data)
    "void": ("void", "v"), "_Bool": ("bool(uchar)", "u1"), "bool": ("bool(uchar)", "u1"),
    "char": ("char", "c1"), "signed char": ("schar", "i1"), "unsigned char": ("uchar", "u1"),
    "short": ("short", "i2"), "unsigned short": ("ushort", "u2"),
    "int": ("int", "i4"), "unsigned int": ("uint", "u4"),
    "long": ("long", "i8"), "unsigned long": ("ulong", "u8"),
    "long long": ("llong", "i8"), "unsigned long long": ("ullong", "u8"),
    "float": ("float", "f4"), "double": ("double", "f8"), "long double": ("ldouble", "x16"),
    # psABI 3.2.3: a complex number is passed as a struct of two
    "_Complex float": ("struct(float, float)", "{f4,f4}"), "_Complex double": ("struct(double, double)", "{f8,f8}"),
    "wchar_t": ("wchar", "c4"),
}


def syntax_tree(pack, root):
    """clang's tree of a source that includes the pack's headers."""
    includes = "".join(f"#include <{header}>\n" for header in pack["headers"])
    command = ["clang-14", "-x", "c", "-std=gnu11", "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json",
               *pack.get("flags", []), "-"]
    for directory in pack.get("include", []):
        command[1:1] = ["-I", str(pathlib.Path(root) / directory.lstrip("/"))]
    made = subprocess.run(command, input=includes, capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(f"{' '.join(command)}: {made.stderr.strip()}")
    return json.loads(made.stdout)


def exported_functions(library):
    made = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = set()
    for line in made.stdout.splitlines():
        parts = line.split()
        if len(parts) == 3 and parts[1] in "TWiV":
            names.add(parts[2].split("@")[0])
    return names


class Declarations:
    """Functions, and the types that they use, of one syntax tree."""

    def __init__(self, tree):
        self.functions, self.enums, self.records, self.typedefs = {}, {}, {}, {}
        self.by_id = {}
        self._walk(tree)

    def _walk(self, tree):
        waiting = None  # an unnamed enum or record, which the typedef behind it names
        for node in tree.get("inner", []):
            kind, name = node.get("kind"), node.get("name")
            if kind == "FunctionDecl":
                self.functions[name] = node
            elif kind == "EnumDecl":
                values = self._values(node)
                if name and values:
                    self.enums[name] = values
                waiting = node
            elif kind == "RecordDecl":
                if name and node.get("completeDefinition"):
                    self.records[name] = node
                waiting = node
            elif kind == "TypedefDecl":
                self.typedefs[name] = node["type"]
                owned = node.get("inner", [{}])[0].get("ownedTagDecl", {}).get("id")
                if waiting is not None and owned == waiting["id"] and not waiting.get("name"):
                    if waiting["kind"] == "EnumDecl":
                        self.enums[name] = self._values(waiting)
                    elif waiting.get("completeDefinition"):
                        self.records[name] = waiting
                waiting = None

    @staticmethod
    def _values(node):
        values, following = [], 0
        for constant in node.get("inner", []):
            if constant.get("kind") != "EnumConstantDecl":
                continue
            for inner in constant.get("inner", []):
                if "value" in inner:
                    following = int(inner["value"])
            values.append((constant["name"], following))
            following += 1
        return values


def is_flags(values):
    """Bits to be joined: most are single bits, and there are more than an enumeration would have."""
    numbers = {value for _, value in values if value > 0}
    return len(numbers) >= 3 and sum(number & (number - 1) == 0 for number in numbers) == len(numbers) \
        and max(numbers) > 4


class Writer:
    """Lenses of types, and the typedefs that they need."""

    def __init__(self, declarations, hints):
        self.declarations, self.hints = declarations, hints
        self.typedefs = collections.OrderedDict()

    def lens(self, spelt, parameter=False):
        """(lens, code) of a C type as clang spells it."""
        text = re.sub(r"\b(const|volatile|restrict|__restrict|_Nullable|_Nonnull|register)\b", "", spelt)
        text = re.sub(r"\s+", " ", text).strip()
        if "(*" in text or "(^" in text:
            return "addr", "p"
        if text.endswith("]"):
            if not parameter:
                raise NoWord(spelt)
            return "addr", "p"
        if text.endswith("*"):
            pointee = text[:-1].strip()
            if pointee == "char" and re.match(r"^(const char|char const) ?\*( ?restrict| ?const)?$", spelt.strip()):
                return "string", "p"
            return "addr", "p"
        if text in BUILT_IN:
            return BUILT_IN[text]
        if text.startswith("enum (unnamed"):
            return "int", "i4"
        if text.startswith("enum "):
            return self._enum(text[5:].strip())
        if text.startswith(("struct ", "union ")):
            return self._record(text.split(" ", 1)[1], text.startswith("union "))
        if text in ("size_t",):
            return "ulong", "u8"
        if text in self.declarations.enums:
            return self._enum(text)
        if text in self.declarations.typedefs:
            described = self.declarations.typedefs[text]
            if text in self.declarations.records:
                return self._record(text, False)
            onward = described["qualType"]
            if onward == text:
                onward = described.get("desugaredQualType", onward)
            if "va_list_tag" in onward or text in ("va_list", "__builtin_va_list", "__gnuc_va_list"):
                return "addr", "p"
            return self.lens(onward, parameter)
        raise NoWord(spelt)

    def _enum(self, name):
        values = self.declarations.enums.get(name)
        if not values:
            raise NoWord("enum " + name)
        signed = any(value < 0 for _, value in values)
        # A compiler takes the smallest of int, unsigned, long and unsigned long that has them all.
        wide = max(abs(value) for _, value in values) >= 1 << (31 if signed else 32)
        code = ("i" if signed else "u") + ("8" if wide else "4")
        if all(constant.upper().endswith("_MAX__") for constant, _ in values):
            return {"4": "hex(uint)", "8": "hex(ulong)"}[code[1]], code # a handle, no enumeration
        if name not in self.typedefs:
            flags = name in self.hints["flags"] or (not signed and is_flags(values))
            seen, kept = set(), []
            for constant, value in values:  # of two names of a value the first is shown
                if value in seen or (flags and (value == 0 or value & (value - 1))):
                    continue
                if constant.upper().endswith(("_NB", "_NUM", "_MAX__")): # how many there are
                    continue
                seen.add(value)
                kept.append(f"{constant}={value:#x}" if flags else f"{constant}={value}")
            base = {"i4": "", "u4": "[uint]", "i8": "[long]", "u8": "[ulong]"}[code]
            kind = "flags" + (base if wide else "") if flags else "enum" + base
            self.typedefs[name] = f"{kind}(" + ", ".join(kept) + ")"
        return name, code

    def _record(self, name, union):
        node = self.declarations.records.get(name)
        if union or node is None or node.get("tagUsed") == "union":
            raise NoWord("struct " + name)
        lenses, codes = [], []
        for field in node.get("inner", []):
            if field.get("kind") != "FieldDecl":
                if field.get("kind") in ("RecordDecl", "IndirectFieldDecl"):
                    raise NoWord("struct " + name)
                continue
            if field.get("isBitfield"):
                raise NoWord("struct " + name)
            lens, code = self.lens(field["type"]["qualType"])
            lenses.append(lens)
            codes.append(code)
        if name not in self.typedefs:
            self.typedefs[name] = "struct(" + ", ".join(lenses) + ")"
        return name, "{" + ",".join(codes) + "}"


def read_hints():
    """lenses.txt: typedefs, and for each function what its parameters and result are."""
    hints = {"functions": {}, "typedefs": {}, "flags": set()}
    for number, line in enumerate((HERE / "lenses.txt").read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        if line.startswith("typedef "):
            name, value = line[8:].split("=", 1)
            hints["typedefs"][name.strip()] = value.strip().rstrip(";")
        elif line.startswith("flags "):
            hints["flags"].update(line.split()[1:])
        else:
            pattern, *words = line.split()
            places = {}
            for word in words:
                place, _, lens = word.partition(":")
                if not lens or not re.match(r"^(ret|\d+)$", place):
                    sys.exit(f"lenses.txt:{number}: {word}: neither ret:LENS nor N:LENS")
                places[place] = lens.replace("_", " ") if lens.startswith("unless") else lens
            hints["functions"].setdefault(pattern, {}).update(places)
    return hints


def hinted(hints, name):
    """What is said of a function: of patterns that end with `*` first, of its name last."""
    found = {}
    for pattern, places in hints["functions"].items():
        if pattern.endswith("*") and name.startswith(pattern[:-1]):
            found.update(places)
    found.update(hints["functions"].get(name, {}))
    return found


def typedefs_in(text, known):
    """The names of `known` that a lens is made of."""
    return [word for word in re.findall(r"[A-Za-z_]\w*", text) if word in known]


def prototype(writer, hints, node):
    """(the line of the .conf, the line of the list)."""
    name = node["name"]
    result = node["type"]["qualType"].split("(")[0].strip()
    if "(*" in node["type"]["qualType"].split(")")[0]:
        result = "void *"  # a function that returns one
    given = hinted(hints, name)
    lens, code = writer.lens(result)
    codes, parameters = [code], []
    result_lens = given.get("ret", lens)
    for number, parameter in enumerate((p for p in node.get("inner", []) if p["kind"] == "ParmVarDecl"), 1):
        lens, code = writer.lens(parameter["type"]["qualType"], parameter=True)
        is_text = lens == "string"
        if is_text and re.match(r"^(file_?name|path|url)$", parameter.get("name", "")):
            lens = "path"
        if is_text and node.get("variadic") and re.match(r"^(fmt|format)$", parameter.get("name", "")):
            lens = "format"
        parameters.append(given.get(str(number), lens))
        codes.append(code)
    if node.get("variadic"):
        codes.append("...")
    for lens in [result_lens, *parameters]:
        for used in typedefs_in(lens, hints["typedefs"]):
            writer.typedefs.setdefault(used, hints["typedefs"][used])
    return f"{result_lens} {name}({', '.join(parameters)});", f"{name} {' '.join(codes)}"


def wrapped(line):
    """A typedef over several lines, as the grammar allows while a parenthesis is open."""
    if len(line) <= 100:
        return line
    lines, current = [], ""
    for word in line.split(" "):
        if current and len(current) + 1 + len(word) > 100:
            lines.append(current)
            current = "  " + word
        else:
            current = current + " " + word if current else word
    return "\n".join([*lines, current])


def version_of(package):
    made = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return re.sub(r"^\d+:", "", made.stdout.strip()) if made.returncode == 0 else "?"


def make(name, pack, root):
    declarations = Declarations(syntax_tree(pack, root))
    hints = read_hints()
    listed, left_out, total = [], [], 0
    for module, library in pack["libraries"].items():
        exported = exported_functions(str(pathlib.Path(root) / library.lstrip("/")))
        writer = Writer(declarations, hints)
        lines = []
        for function in sorted(exported & declarations.functions.keys()):
            if not re.search(pack.get("only", ""), function):
                continue
            total += 1
            try:
                line, entry = prototype(writer, hints, declarations.functions[function])
            except NoWord as missing:
                left_out.append(f"{function}: {missing}")
                continue
            lines.append(line)
            listed.append(entry)
        by_hand = SOURCE / "src/proto/tools" / f"{module}.by-hand.conf"
        text = f"; {pack['title']} {version_of(pack['package'])}.\n"
        text += f"; Made by src/proto/tools/make_pack.py {name}; don't edit.\n\n"
        text += "".join(wrapped(f"typedef {key} = {value};") + "\n" for key, value in writer.typedefs.items())
        text += ("\n" if writer.typedefs else "") + "".join(wrapped(line) + "\n" for line in lines)
        if by_hand.exists():
            text += "\n" + by_hand.read_text()
        for used in typedefs_in(text.split("\n\n", 2)[-1], hints["typedefs"]):
            assert used in writer.typedefs or by_hand.exists(), used
        (SOURCE / "src/proto/prototypes" / f"{module}.conf").write_text(text)
        print(f"{module}: {len(lines)} functions")
    header = f"# Functions of {pack['title']} {version_of(pack['package'])} that its headers declare and its libraries export.\n"
    header += f"# Made by src/proto/tools/make_pack.py {name}; the codes are those of zlib_1_2_13_functions.txt.\n"
    (SOURCE / "tests/proto_data" / f"{name}_functions.txt").write_text(header + "".join(l + "\n" for l in sorted(set(listed))))
    for line in left_out:
        print("left out:", line)
    print(f"{name}: {total - len(left_out)} of {total}")
    if total == 0 or len(left_out) > MOST_LEFT_OUT * total:
        sys.exit(f"{name}: too many are left out")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", nargs="*")
    parser.add_argument("--root", default="/")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    packs = json.loads((HERE / "packs.json").read_text())
    if options.list:
        print("\n".join(packs))
        return
    at_hand = [name for name, pack in packs.items() if pack.get("language") != "c++" and not pack.get("untested")]
    for name in options.pack or at_hand:
        if name not in packs:
            parser.error(f"{name}: no such pack; there are {', '.join(packs)}")
        if packs[name].get("language") == "c++":
            subprocess.run([HERE / "make_cpp_pack.py", name, "--root", options.root], check=True)
        else:
            make(name, packs[name], options.root)


if __name__ == "__main__":
    main()
