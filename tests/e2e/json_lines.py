#!/usr/bin/env python3
"""json_lines.py SCHEMA FILE...: is each line of the files valid?

Knows of JSON Schema what ours uses: a library for it is not installed everywhere. Prints how many
objects of each kind there were.
"""
import collections
import json
import re
import sys

KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "required", "properties",
         "additionalProperties", "items", "const", "enum", "oneOf", "pattern", "minimum"}
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool,
         "null": type(None), "number": (int, float)}


def is_a(value, name):
    if name in ("integer", "number") and isinstance(value, bool):
        return False
    return isinstance(value, TYPES[name])


def check(value, schema, root, where):
    """Yields what is wrong."""
    unknown = set(schema) - KNOWN
    assert not unknown, f"keywords that this script does not know: {unknown}"
    if "$ref" in schema:
        yield from check(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, where)
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(is_a(value, name) for name in names):
            yield f"{where}: {value!r} is not of type {names}"
            return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r} does not match {schema['pattern']}"
    if "minimum" in schema and is_a(value, "number") and value < schema["minimum"]:
        yield f"{where}: {value!r} is less than {schema['minimum']}"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where}: {name} is missing"
        properties = schema.get("properties", {})
        for name, member in value.items():
            if name in properties:
                yield from check(member, properties[name], root, f"{where}.{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{where}: {name} is not in the schema"
    if isinstance(value, list) and "items" in schema:
        for at, element in enumerate(value):
            yield from check(element, schema["items"], root, f"{where}[{at}]")
    if "oneOf" in schema:
        results = [list(check(value, one, root, where)) for one in schema["oneOf"]]
        fits = sum(not errors for errors in results)
        if fits != 1:
            yield f"{where}: fits {fits} of the alternatives; nearest: {min(results, key=len)}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    kinds = collections.Counter()
    wrong = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                value = json.loads(line)
                kinds[value.get("kind")] += 1
                for error in check(value, schema, schema, "$"):
                    wrong += 1
                    if wrong <= 10:
                        print(f"{path}:{number}: {error}\n  {line}", end="")
    for kind, count in sorted(kinds.items()):
        print(kind, count)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
