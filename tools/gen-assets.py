#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes files as C, to be compiled into the program: gen-assets.py FOLDER NAME…

Each is an array of bytes, and a table names them (src/studio/assets.h). The tag is a hash of the
content: clients ask with it whether theirs is current.
"""
import hashlib
import pathlib
import sys


def array(number, data):
    print(f"static const unsigned char asset_{number}[] = {{")
    for at in range(0, len(data), 20):
        print("    " + " ".join(f"{byte}," for byte in data[at : at + 20]))
    print("};")


def main():
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    contents = [(folder / name).read_bytes() for name in names]
    print("/* Made by tools/gen-assets.py. */")
    print('#include "studio/assets.h"\n')
    for number, data in enumerate(contents):
        array(number, data)
    print("\nconst struct pawl_asset pawl__studio_assets[] = {")
    for number, (name, data) in enumerate(zip(names, contents)):
        tag = hashlib.sha256(data).hexdigest()[:16]
        print(f'    {{"{name}", "\\"{tag}\\"", asset_{number}, sizeof asset_{number}}},')
    print("};")
    print(f"const size_t pawl__studio_asset_count = {len(names)};")


main()
