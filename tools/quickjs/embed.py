#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a text file as a C header: tools/quickjs/embed.py IN OUT SYMBOL.

Comments and blanks at the beginning of lines are left out: the text is parsed at run time.
"""
import re
import sys

source, target, symbol = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    text = file.read()
text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
lines = [line.strip() for line in text.split("\n")]
lines = [line for line in lines if line and not line.startswith("//")]
data = "\n".join(lines).encode()
with open(target, "w", encoding="utf-8") as file:
    file.write("/* Made from %s by tools/quickjs/embed.py. */\n" % source.rsplit("/", 1)[-1])
    file.write("static const size_t %s_size = %d;\n" % (symbol, len(data)))
    file.write("static const unsigned char %s_text[] = {\n" % symbol)
    for at in range(0, len(data), 20):
        file.write("    " + ", ".join(str(byte) for byte in data[at : at + 20]) + ",\n")
    file.write("};\n")
