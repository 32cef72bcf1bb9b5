/* SPDX-License-Identifier: Apache-2.0 */
/* The notices; see licenses.h. Libraries that are linked or loaded bring their own. */
#include "cli/licenses.h"

#include <stddef.h>

static const char mit[] =
    "Permission is hereby granted, free of charge, to any person obtaining a copy\n"
    "of this software and associated documentation files (the \"Software\"), to deal\n"
    "in the Software without restriction, including without limitation the rights\n"
    "to use, copy, modify, merge, publish, distribute, sublicense, and/or sell\n"
    "copies of the Software, and to permit persons to whom the Software is\n"
    "furnished to do so, subject to the following conditions:\n"
    "\n"
    "The above copyright notice and this permission notice shall be included in\n"
    "all copies or substantial portions of the Software.\n"
    "\n"
    "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR\n"
    "IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,\n"
    "FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE\n"
    "AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER\n"
    "LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,\n"
    "OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN\n"
    "THE SOFTWARE.\n";

const struct pawl_cli_license pawl__cli_licenses[] = {
    {"llhttp", "reads HTTP requests", "Copyright Fedor Indutny, 2018.\n", mit},
    {"QuickJS-NG", "runs JavaScript",
     "Copyright (c) 2017-2024 Fabrice Bellard\n"
     "Copyright (c) 2017-2024 Charlie Gordon\n"
     "Copyright (c) 2023-2025 Ben Noordhuis\n"
     "Copyright (c) 2023-2025 Saúl Ibarra Corretgé\n",
     mit},
    {"quickjs-wasi", "QuickJS-NG as WebAssembly", "Copyright (c) 2026 Vercel, Inc.\n", mit},
    {NULL, NULL, NULL, NULL},
};
