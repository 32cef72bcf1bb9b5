/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shell around Elsa Studio, compiled into the program: the files of src/studio/shell. A program
 * and its shell are always of one version, and `pawl` stays one file
 * (docs/design/0020-studio.md). The table is made by tools/gen-assets.py.
 */
#ifndef PAWL_STUDIO_ASSETS_H
#define PAWL_STUDIO_ASSETS_H

#include <stddef.h>

struct pawl_asset {
    const char *name; /* "shell.css" */
    const char *tag;  /* an ETag, with its quotes */
    const unsigned char *bytes;
    size_t size_bytes;
};

extern const struct pawl_asset pawl__studio_assets[];
extern const size_t pawl__studio_asset_count;

#endif
