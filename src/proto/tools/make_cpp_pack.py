#!/usr/bin/python3
"""Makes a pack of a C++ library: what its headers say that the mangled names of its functions don't.

    make_cpp_pack.py PACK [--root DIRECTORY]...   writes src/proto/prototypes/PACK.pack and
                                                  tests/proto_data/PACK_functions.txt

packs.json beside this file says for each pack which headers and libraries it is of. Declarations are
read by libclang (python3-clang-14); how a class is passed and how a type is mangled tells clang's own
code for functions with such a parameter. Of what the headers declare only what the libraries export
(nm -D) is kept. docs/PROTOTYPES.md says what is in the file. A header that can't be compiled here (of
CUDA, of another system) is left out, and named.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import clang.cindex as cindex
from clang.cindex import CursorKind, TypeKind

from make_pack import HERE, SOURCE, version_of

FLAGS = ["-x", "c++", "-std=c++17", "-w", "-ferror-limit=0"]
SKIP_BODIES, KEEP_GOING = 0x40, 0x200  # CXTranslationUnit_*
FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
             CursorKind.CONVERSION_FUNCTION}
CLASSES = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.UNION_DECL}
SCOPES = CLASSES | {CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL}
MOST_FIELDS = 8
HELD_BY_VALUE = {"optional", "pair", "array", "tuple"} # they are as large as what is in them

# Of fields: what the mangling of a type has for it, and the code of tests/proto_data.
PLAIN = {
    TypeKind.BOOL: ("b", "u1"), TypeKind.CHAR_S: ("c", "c1"), TypeKind.SCHAR: ("a", "i1"), TypeKind.UCHAR: ("h", "u1"),
    TypeKind.SHORT: ("s", "i2"), TypeKind.USHORT: ("t", "u2"), TypeKind.INT: ("i", "i4"), TypeKind.UINT: ("j", "u4"),
    TypeKind.LONG: ("l", "i8"), TypeKind.ULONG: ("m", "u8"), TypeKind.LONGLONG: ("x", "i8"),
    TypeKind.ULONGLONG: ("y", "u8"), TypeKind.FLOAT: ("f", "f4"), TypeKind.DOUBLE: ("d", "f8"),
    TypeKind.WCHAR: ("w", "c4"), TypeKind.CHAR32: ("Di", "c4"), TypeKind.CHAR16: ("Ds", "u2"),
    TypeKind.LONGDOUBLE: ("e", "x16"), TypeKind.POINTER: ("Pv", "p"), TypeKind.INT128: ("n", "II"),
    TypeKind.UINT128: ("o", "II"),
}

FIELD_SIZES = {letter: {"p": 8, "II": 16}.get(code) or int(code[1:]) for letter, code in PLAIN.values()}


def fnv(text):
    """Of a mangled name, where it stands for its overload."""
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return f"{value >> 32 ^ value & 0xffffffff:08x}"


def headers_of(pack, roots):
    """The pack's headers, the first ones first, each as it is included."""
    first = pack.get("first", [])
    found = set(first)
    for directory, pattern in pack["headers"]:
        for root in roots:
            base = root / directory.lstrip("/")
            found.update(str(path.relative_to(base)) for path in base.glob(pattern))
    without = re.compile("|".join(pack["without"]) if pack.get("without") else "^$")
    return first + sorted(name for name in found - set(first) if not without.search(name))


class Reader:
    """The headers as libclang reads them, without those that fail."""

    def __init__(self, pack, roots, work):
        self.flags = FLAGS + pack.get("flags", [])
        for directory in pack.get("include", []):
            self.flags += [f"-I{root / directory.lstrip('/')}" for root in roots]
        self.headers = headers_of(pack, roots)
        self.main = str(work / "headers.cpp")
        index = cindex.Index.create()
        while True:
            pathlib.Path(self.main).write_text(self.source())
            self.unit = index.parse(self.main, args=self.flags, options=SKIP_BODIES | KEEP_GOING)
            failed = self.failed()
            if not failed:
                return
            for header, why in failed.items():
                print(f"left out: {header}: {why}")
            self.headers = [header for header in self.headers if header not in failed]

    def source(self):
        return "".join(f"#include <{header}>\n" for header in self.headers)

    def failed(self):
        by = {}
        for inclusion in self.unit.get_includes():
            by.setdefault(inclusion.include.name, (inclusion.source.name, inclusion.location.line))
        failed = {}
        for diagnostic in self.unit.diagnostics:
            if diagnostic.severity < cindex.Diagnostic.Error or diagnostic.location.file is None:
                continue
            file, line = diagnostic.location.file.name, diagnostic.location.line
            twice = [header for header in self.headers if file.endswith("/" + header)]
            if diagnostic.spelling.startswith("redefinition") and twice:
                failed.setdefault(twice[0], diagnostic.spelling)  # it has no guard
                continue
            while file != self.main and file in by:
                file, line = by[file]
            if file != self.main:
                sys.exit(str(diagnostic))
            failed.setdefault(self.headers[line - 1], diagnostic.spelling)
        return failed


def scope_of(cursor):
    """What it is in, as read_signature() has it: templates with `<>`."""
    names = []
    scope = cursor.semantic_parent
    while scope is not None and scope.kind != CursorKind.TRANSLATION_UNIT:
        if scope.kind not in (CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL):
            name = scope.spelling
            if not name:
                return None
            if scope.kind in CLASSES and scope.type.get_num_template_arguments() > 0:
                name = name.split("<")[0] + "<>"
            names.append(name)
        scope = scope.semantic_parent
    return "::".join(reversed(names))


def name_of(declaration):
    """Of a class or an enumeration; of a template without its arguments."""
    scope, own = scope_of(declaration), declaration.spelling.split("<")[0]
    if scope is None or not own or "(" in own:
        return None
    return f"{scope}::{own}" if scope else own


def has_virtual_base(cursor, known):
    if cursor.hash not in known:
        known[cursor.hash] = False
        for child in cursor.get_children():
            if child.kind == CursorKind.CXX_BASE_SPECIFIER:
                definition = child.type.get_canonical().get_declaration()
                if cindex.conf.lib.clang_isVirtualBase(child) or has_virtual_base(definition, known):
                    known[cursor.hash] = True
    return known[cursor.hash]


class Function:
    def __init__(self, mangled, cursor):
        self.mangled, self.cursor = mangled, cursor
        self.is_structor = cursor.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR)
        self.is_member = self.is_structor or cursor.kind == CursorKind.CONVERSION_FUNCTION or \
            (cursor.kind == CursorKind.CXX_METHOD and not cursor.is_static_method())
        self.result = cursor.result_type.get_canonical()
        self.parameters = [type_.get_canonical() for type_ in cursor.type.argument_types()]
        self.is_variadic = cursor.type.kind == TypeKind.FUNCTIONPROTO and cursor.type.is_function_variadic()
        self.scope, self.name = scope_of(cursor), cursor.spelling.split("<")[0]
        if cursor.spelling.startswith("operator"):
            self.name = cursor.spelling


class Declarations:
    """The functions that are exported, and the enumerations and classes that they are made of."""

    def __init__(self, unit, exported):
        self.exported, self.functions = exported, {}
        self.enums, self.classes = {}, {}  # by name; of classes all that are passed, by their types' names
        self.virtual, self.by_name = {}, {}
        self._walk(unit.cursor)
        for function in self.functions.values():
            for type_ in [function.result, *function.parameters]:
                self._collect(type_, True)

    def _walk(self, scope):
        for cursor in scope.get_children():
            kind = cursor.kind
            if kind in FUNCTIONS:
                self._add(cursor)
            elif kind in SCOPES:
                self._walk(cursor)
            elif kind == CursorKind.ENUM_DECL and cursor.spelling:
                self.by_name.setdefault(cursor.spelling, []).append(cursor)

    def _add(self, cursor):
        if cursor.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR):
            names = mangled_names(cursor)
        else:
            names = [cursor.mangled_name]
        for mangled in names:
            if mangled in self.exported and mangled not in self.functions and mangled.startswith("_Z"):
                self.functions[mangled] = Function(mangled, cursor)

    def _collect(self, type_, by_value):
        kind = type_.kind
        if kind in (TypeKind.POINTER, TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
            return self._collect(type_.get_pointee().get_canonical(), False)
        declaration = type_.get_declaration()
        if kind == TypeKind.ENUM:
            self.add_enum(declaration)
        elif kind == TypeKind.RECORD:
            for at in range(max(type_.get_num_template_arguments(), 0)):
                argument = type_.get_template_argument_type(at)
                if argument.kind != TypeKind.INVALID:
                    self._collect(argument.get_canonical(), by_value and declaration.spelling in HELD_BY_VALUE)
            spelt = unqualified(type_)
            if by_value and spelt not in self.classes and name_of(declaration):
                self.classes[spelt] = type_
                for field in type_.get_fields():
                    self._collect(field.type.get_canonical(), False)

    def add_enum(self, declaration):
        name = name_of(declaration)
        if not name or name in self.enums:
            return name
        values = [(constant.spelling, constant.enum_value) for constant in declaration.get_children()
                  if constant.kind == CursorKind.ENUM_CONSTANT_DECL]
        self.enums[name] = (PLAIN[declaration.enum_type.get_canonical().kind][1], values)
        return name


def are_bits(values):
    """Bits to be joined, with names for some of them together: not what is just counted up."""
    numbers = {value for _, value in values if value >= 0}
    single = [number for number in numbers if number & (number - 1) == 0 and number]
    together = sum(single)
    return len(single) >= 3 and max(single) > 4 and all(number & ~together == 0 for number in numbers) and \
        len(numbers) < 0.75 * (max(numbers) + 1) and all(value >= -1 for _, value in values)


def unqualified(type_):
    return re.sub(r"^(const |volatile )+", "", type_.spelling)


def mangled_names(cursor):
    """Of a constructor or a destructor: libclang's binding lacks it."""
    library = cindex.conf.lib

    class StringSet(cindex.Structure):
        _fields_ = [("strings", cindex.POINTER(cindex._CXString)), ("count", cindex.c_uint)]

    manglings = library.clang_Cursor_getCXXManglings
    manglings.restype = cindex.POINTER(StringSet)
    manglings.argtypes = [cindex.Cursor]
    library.clang_getCString.restype = cindex.c_interop_string
    found = manglings(cursor)
    if not found:
        return []
    read = cindex.CDLL(library._name).clang_getCString
    read.restype, read.argtypes = cindex.c_char_p, [cindex._CXString]
    return [read(found.contents.strings[at]).decode() for at in range(found.contents.count)]


class Compiled:
    """What clang makes of types: how they are mangled, and passed as a parameter."""

    def __init__(self, reader, work, types, classes):
        types, classes = sorted(types), sorted(classes)
        lines = [f"void st_t_{at}(st_type<{spelt}> (*)()) {{}}" for at, spelt in enumerate(types)]
        lines += [f'extern "C" void st_c_{at}({spelt} x) {{}}' for at, spelt in enumerate(classes)]
        source, above = work / "types.cpp", reader.source().splitlines() + ["template <class T> using st_type = T;"]
        while True:
            source.write_text("\n".join(above + lines) + "\n")
            made = subprocess.run(["clang++-14", *reader.flags, "-S", "-emit-llvm", "-O0", "-fno-discard-value-names", "-fno-access-control", "-o", "-", str(source)],
                                  capture_output=True, text=True)
            if made.returncode == 0:
                break
            first = len(above)
            failed = {int(line) for line in re.findall(rf"{source}:(\d+)[:,]", made.stderr)}
            if not failed:
                sys.exit(made.stderr[:4000])
            for line in failed:  # private, made by a macro that is undefined now; a header whose code is wrong
                if line <= first:
                    above[line - 1] = ""
                elif lines[line - first - 1]:
                    print("left out:", lines[line - first - 1])
                    lines[line - first - 1] = ""
        self.mangled = {types[int(at)]: text
                        for at, text in re.findall(r"^define .*@_Z\d+st_t_(\d+)PF(\S+)vE\(", made.stdout, re.M)}
        self.passed = {classes[int(at)]: text.strip()
                       for at, text in re.findall(r"^define .*@st_c_(\d+)\((.*)\) #", made.stdout, re.M)}


def words_of(passed):
    """How clang passes a class: R, by reference; M, in memory; else an I or V for each register."""
    if "byval(" in passed:
        return "M"
    words = ""
    for parameter, coerced in re.findall(r"(\S.*?) %x(\.coerce\d*)?(?:, |$)", passed):
        if not coerced and "*" in parameter:
            return "R"
        is_vector = parameter.split("*")[0] == parameter and parameter.startswith(("<", "float", "double"))
        words += "V" if is_vector else "I"
    return words


def fields_of(type_):
    """What a class without secrets is made of; None of any other."""
    declaration = type_.get_declaration()
    found = []
    for child in declaration.get_children():
        if child.kind == CursorKind.CXX_BASE_SPECIFIER:
            return None
    for field in type_.get_fields():
        if field.access_specifier != cindex.AccessSpecifier.PUBLIC or field.is_bitfield():
            return None
        inner, count = field.type.get_canonical(), 1
        if inner.kind == TypeKind.CONSTANTARRAY:
            inner, count = inner.element_type.get_canonical(), inner.element_count
        if inner.kind == TypeKind.ENUM:
            inner = inner.get_declaration().enum_type.get_canonical()
        if inner.kind not in PLAIN or inner.kind in (TypeKind.LONGDOUBLE, TypeKind.INT128, TypeKind.UINT128):
            return None
        found += [PLAIN[inner.kind][0]] * count
    end, widest = 0, 1
    for size in (FIELD_SIZES[letter] for letter in found):  # where a struct of C would have them
        end, widest = (end + size - 1) // size * size + size, max(widest, size)
    is_plain = type_.get_size() == (end + widest - 1) // widest * widest
    return found if found and len(found) <= MOST_FIELDS and is_plain else None


class Writer:
    def __init__(self, declarations, compiled):
        self.declarations, self.compiled = declarations, compiled
        self.results = collections.OrderedDict()

    # Types.

    def enums(self):
        for name, (code, values) in sorted(self.declarations.enums.items()):
            flags = are_bits(values)
            if flags:  # in front the name of 0 would be that of a field of bits, as O_RDONLY is
                values = sorted(values, key=lambda one: one[1] == 0)
            seen, words, following = set(), [], 0
            for constant, value in values:  # of two names of a value the first is shown
                if value in seen:
                    continue
                seen.add(value)
                words.append(constant if value == following else f"{constant}={value}")
                following = value + 1
            yield f"{'flags' if flags else 'enum'} {name} {code} {' '.join(words)}".rstrip()

    def class_word(self, spelt, type_):
        passed = self.compiled.passed.get(spelt)
        if passed is None:
            return None
        words = words_of(passed)
        if words == "R":
            return "R"
        if words == "":
            return "0"
        if type_.get_num_template_arguments() >= 0:
            return None  # of other arguments it may be passed in another way
        fields = fields_of(type_)
        if fields:
            return "".join(fields)
        return f"*{(type_.get_size() + 7) // 8}" if "V" not in words else None

    def classes(self):
        by_name = collections.defaultdict(set)
        for spelt, type_ in self.declarations.classes.items():
            by_name[name_of(type_.get_declaration())].add(self.class_word(spelt, type_))
        for name, words in sorted(by_name.items()):
            if len(words) == 1 and None not in words:
                yield f"class {name} {words.pop()}"

    # Functions.

    def result(self, function):
        """Its number; None where it can't be said."""
        if function.is_structor:
            return ""
        text = self.compiled.mangled.get(function.result.spelling)
        if text is None:
            return None
        return self.results.setdefault(text, len(self.results))

    def scopes(self, hints):
        """Lines for each scope, and for its functions what is not the same for all of them."""
        scopes = collections.defaultdict(lambda: collections.defaultdict(list))
        declared = self.declarations.functions
        for function in declared.values():
            if function.scope is not None and function.cursor.kind != CursorKind.CONVERSION_FUNCTION:
                scopes[function.scope][function.name].append(function)
        others = collections.defaultdict(set)  # what is exported, and not declared: nothing may be said of it
        rest = sorted(self.declarations.exported - declared.keys())
        for mangled, (scope, name) in zip(rest, scopes_and_names(rest)):
            others[scope].add(name)
        for scope, by_name in sorted(scopes.items()):
            yield from self._scope(scope, by_name, others[scope], hints)

    def _scope(self, scope, by_name, others, hints):
        functions = [function for overloads in by_name.values() for function in overloads]
        parent = functions[0].cursor.semantic_parent
        is_class = parent.kind in CLASSES
        plain = [function for function in functions if not function.is_structor]
        kinds = {"m" if function.is_member else "s" for function in plain}
        kind = kinds.pop() if len(kinds) == 1 else "" if kinds else "m"
        results = {self.result(function) for function in plain}
        mark = "v" if is_class and has_virtual_base(parent, self.declarations.virtual) else ""
        mark = mark or ("c" if is_class else "n")
        hinted = any(function.mangled in hints for function in plain)
        undeclared = others - {function.name for function in functions if function.is_structor}
        if len(results) == 1 and None not in results and kind and not undeclared and plain and not hinted:
            yield f"scope {scope or '-'} {mark} {kind}{results.pop()}"
            return
        yield f"scope {scope or '-'} {mark} {kind}".rstrip()
        lines = []
        for name, overloads in by_name.items():
            overloads = [function for function in overloads if not function.is_structor]
            said = {}
            for function in overloads:
                number = self.result(function)
                own = "" if kind else "m" if function.is_member else "s"
                said[function.mangled] = own + ("" if number is None else str(number)) + \
                    "".join(f" {at}={enum}" for at, enum in hints.get(function.mangled, []))
            if not said:
                continue
            if len(set(said.values())) == 1 and name not in others:
                lines.append(f" {name} {next(iter(said.values()))}".rstrip())
            else:
                lines += [f" {name}#{fnv(mangled)} {text}".rstrip() for mangled, text in said.items()]
        yield from sorted(lines, key=lambda line: line.encode())


def scopes_and_names(mangled):
    """By c++filt: good enough to know what may be mixed up with what."""
    made = subprocess.run(["c++filt", "-p"], input="\n".join(mangled), capture_output=True, text=True, check=True)
    for text in made.stdout.splitlines():
        flat, depth, at = "", 0, 0
        while at < len(text):
            operator = re.match(r"operator(\(\)|<<=?|>>=?|->\*?|<=>|<=?|>=?)", text[at:])
            if operator and depth == 0:
                flat += operator.group()
                at += operator.end()
                continue
            character = text[at]
            at += 1
            if character == "<":
                flat += "<" if depth == 0 else ""
                depth += 1
            elif character == ">":
                depth -= 1
                flat += ">" if depth == 0 else ""
            elif depth == 0:
                flat += character
        scope, _, name = flat.rpartition("::")
        yield scope, name.removesuffix("<>")


def hints_of(declarations):
    """Numbers that are enumerations, by their default values and by what the comment says."""
    hints = {}
    for function in declarations.functions.values():
        if function.is_structor or not any(t.kind == TypeKind.INT for t in function.parameters):
            continue
        comment = function.cursor.raw_comment or ""
        found = []
        for at, parameter in enumerate(function.cursor.get_arguments(), 1):
            if parameter.type.get_canonical().kind != TypeKind.INT:
                continue
            enum = default_enum(parameter) or described_enum(comment, parameter.spelling, declarations, function.scope)
            name = declarations.add_enum(enum) if enum is not None else None
            if name:
                found.append((at, name))
        if found:
            hints[function.mangled] = found
    return hints


def default_enum(parameter):
    for child in parameter.walk_preorder():
        if child.kind == CursorKind.DECL_REF_EXPR and child.referenced is not None and \
                child.referenced.kind == CursorKind.ENUM_CONSTANT_DECL:
            enum = child.referenced.semantic_parent
            if enum.spelling and "(" not in enum.spelling:
                return enum
    return None


def described_enum(comment, name, declarations, scope):
    described = re.search(rf"[@\\]param(?:\[\w+\])?\s+{re.escape(name)}\b(.*?)(?:[@\\](?:param|note|sa|see|return)|\n\s*\*?\s*\n|\Z)", comment, re.S)
    if not name or not described:
        return None
    named = {word for word in re.findall(r"#?\b(?:cv::)?(\w+)\b", described.group(1)) if word in declarations.by_name}
    enums = [enum for word in named for enum in declarations.by_name[word] if scope_of(enum) == scope]
    return enums[0] if len(enums) == 1 else None


# What the tests compare with.

def code_of(type_, passed):
    """A parameter by number, kind and width."""
    kind = type_.kind
    if kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        return "&"
    if kind == TypeKind.ENUM:
        return PLAIN[type_.get_declaration().enum_type.get_canonical().kind][1]
    if kind in PLAIN:
        return PLAIN[kind][1]
    if kind in (TypeKind.NULLPTR, TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY):
        return "p"
    if kind == TypeKind.MEMBERPOINTER:
        return "i8" if type_.get_size() == 8 else "II"
    if kind == TypeKind.VOID:
        return "v"
    words = words_of(passed[unqualified(type_)]) if unqualified(type_) in passed else "?"
    if words == "M":
        return f"s{(type_.get_size() + 7) // 8}"
    return {"": "0", "R": "r"}.get(words, words)


def listed(function, compiled):
    """`this` or not, the result, the parameters."""
    codes = ["t" if function.is_member else "-"]
    codes.append("v" if function.is_structor else code_of(function.result, compiled.passed))
    codes += [code_of(parameter, compiled.passed) for parameter in function.parameters]
    return " ".join(codes + ["..."] * function.is_variadic)


def front_coded(lines):
    """Sorted lines, each as how many characters it begins with as the one before, and the rest."""
    before = ""
    for line in lines:
        shared = 0
        while shared < min(len(before), len(line)) and before[shared] == line[shared]:
            shared += 1
        yield f"{shared} {line[shared:]}"
        before = line


def make(name, pack, roots):
    exported, sonames = set(), []
    for soname, path in pack["libraries"].items():
        library = next((root / path.lstrip("/") for root in roots if (root / path.lstrip("/")).exists()), None)
        if library is None:
            sys.exit(f"{path}: there is no such library")
        made = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
        for line in made.stdout.splitlines():
            _, kind, symbol = line.split()
            if kind in "TWi" and symbol.startswith("_Z"):
                exported.add(symbol.split("@")[0])
        sonames.append(soname)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        reader = Reader(pack, roots, work)
        print(f"{name}: {len(reader.headers)} headers, {len(exported)} exports")
        declarations = Declarations(reader.unit, exported)
        hints = hints_of(declarations) if pack.get("enums_by_comments") else {}
        results = {function.result.spelling for function in declarations.functions.values()
                   if not function.is_structor}
        compiled = Compiled(reader, work, results, declarations.classes)
    writer = Writer(declarations, compiled)
    title = f"# {pack['title']} {version_of(pack['package'])}.\n"
    scopes = list(writer.scopes(hints))
    lines = [f"library {soname}" for soname in sonames]
    lines += writer.enums()
    lines += writer.classes()
    lines += [f"result {text}" for text in writer.results]
    lines += scopes
    text = title + f"# Made by src/proto/tools/make_cpp_pack.py {name}; don't edit.\n" + "\n".join(lines) + "\n"
    (SOURCE / "src/proto/prototypes" / f"{name}.pack").write_text(text)
    test = title + "# What the headers declare and the libraries export, and how it is called.\n"
    functions = sorted(f"{mangled} {listed(function, compiled)}" for mangled, function in declarations.functions.items())
    test += "".join(line + "\n" for line in front_coded(functions))
    (SOURCE / "tests/proto_data" / f"{name}_cpp_functions.txt").write_text(test)
    print(f"{name}: {len(functions)} functions, {len(text)} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", nargs="+")
    parser.add_argument("--root", action="append", default=[], help="where packages are unpacked; then /")
    options = parser.parse_args()
    packs = json.loads((HERE / "packs.json").read_text())
    for name in options.pack:
        make(name, packs[name], [pathlib.Path(root) for root in [*options.root, "/"]])


if __name__ == "__main__":
    main()
