/* SPDX-License-Identifier: Apache-2.0 */
/* What scripts of a workflow can use, as declarations in TypeScript: for editors. */
#ifndef PAWL_VIEWS_TYPESCRIPT_H
#define PAWL_VIEWS_TYPESCRIPT_H

#include "base/buf.h"
#include "base/json/json.h"

/*
 * Functions that every script has, one to read each input, one to read and one to write each
 * variable, and `variables`. `definition` is its JSON. Failures are the buffer's status.
 */
void pawl__view_typescript(struct pawl_buf *out, const struct pawl_json *definition);

#endif
