"""Makes calls from all kinds of Python functions, and says in each where it is made."""
import ctypes
import functools
import os
import sys
import threading

directory = sys.argv[1]
told = ctypes.CDLL(os.path.join(directory, "libpython_told.so")).told
told.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p]
places = ctypes.PyDLL(os.path.join(directory, "libpython_places.so"))


def here():
    """The caller's line, function and file."""
    frame = sys._getframe(1)
    code = frame.f_code
    return frame.f_lineno, getattr(code, "co_qualname", code.co_name).encode(), code.co_filename.encode()


told(*here())


def plain(depth):
    told(*here())
    if depth:
        plain(depth - 1)
    told(*here())


def with_locals(value):
    captured = value

    def inner():
        told(*here())
        return captured

    return inner() + (lambda: told(*here()))()


def generator(count):
    for _ in range(count):
        told(*here())
        yield told(*here())
        told(*here())


def delegating():
    yield from generator(2)
    told(*here())


class Shape:
    told(*here())

    def __init__(self):
        told(*here())

    @property
    def area(self):
        told(*here())
        return 1

    @classmethod
    def make(cls):
        told(*here())
        return cls()

    def __enter__(self):
        told(*here())
        return self

    def __exit__(self, *unused):
        told(*here())

    def __del__(self):
        told(*here())

    def __lt__(self, other):
        told(*here())
        return False


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        told(*here())
        result = function(*args)
        told(*here())
        return result

    return wrapper


@decorated
def work(number):
    told(*here())
    return number


def raises(depth):
    if depth == 0:
        raise ValueError(told(*here()))
    try:
        raises(depth - 1)
    except ValueError:
        told(*here())
        raise
    finally:
        told(*here())


def catches():
    try:
        raises(3)
    except ValueError:
        told(*here())
    told(*here())


def Öffentlich():
    told(*here())


def on_many_lines():
    return (
        told(*here()),
        [
            told(*here())
            for _ in range(2)
        ],
        {told(*here()): told(*here())},
    )


async def coroutine():
    told(*here())
    await other_coroutine()
    told(*here())


async def other_coroutine():
    told(*here())


def run(coroutine_object):
    try:
        coroutine_object.send(None)
    except StopIteration:
        told(*here())


def in_thread(rounds):
    for _ in range(rounds):
        told(*here())
        plain(1)
        list(generator(2))


plain(3)
with_locals(1)
list(generator(3))
list(delegating())
half_run = generator(3)
next(half_run)
told(*here())
next(half_run)
del half_run
with Shape.make() as shape:
    shape.area
    sorted([Shape(), shape])
del shape
work(work(2))
catches()
Öffentlich()
on_many_lines()
run(coroutine())
[told(*here()) for _ in range(3)]
sorted([3, 1, 2], key=lambda number: told(*here()))
any(told(*here()) < 0 for _ in range(2))
exec(compile("told(*here())\n\n\ntold(*here())\n", "made up", "exec"))
exec(compile("\n\n\ntold(*here())\ntold(*here())\n", "made up", "exec"))
for number in range(50):  # one code object after the other, at the same address perhaps
    exec(compile("\n" * (number % 7) + "told(*here())\n", "made up", "exec"))
eval("told(*here())")
threads = [threading.Thread(target=in_thread, args=(5,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
child = os.fork()
if child == 0:
    told(*here())
    plain(1)
    os._exit(0)
os.waitpid(child, 0)
places.tell_place()
places.tell_events()
# A bigger program: what these modules do as they are imported.
import argparse, ast, asyncio, configparser, csv, dataclasses, datetime, decimal, difflib, email.message
import email.parser, enum, fractions, hashlib, html.parser, http.client, http.server, inspect, json, logging
import logging.handlers, multiprocessing.pool, pathlib, pickle, platform, pprint, random, shelve, smtplib
import socketserver, sqlite3, statistics, string, subprocess, tarfile, tempfile, textwrap, timeit, tokenize
import tomllib, traceback, typing, unittest.mock, urllib.request, uuid, wsgiref.simple_server, xml.dom.minidom
import xml.etree.ElementTree, xmlrpc.client, zipfile, zoneinfo

Point = dataclasses.make_dataclass("Point", ["x", "y"])
json.loads(json.dumps({"a": [1, 2, Point(1, 2).x]}))
ast.parse(open(__file__).read())
list(tokenize.generate_tokens(open(__file__).readline))
