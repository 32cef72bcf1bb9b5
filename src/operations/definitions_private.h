/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about definitions share; see definitions.h. */
#ifndef PAWL_OPERATIONS_DEFINITIONS_PRIVATE_H
#define PAWL_OPERATIONS_DEFINITIONS_PRIVATE_H

#include "operations/definitions.h"
#include "operations/query.h"
#include "operations/record.h"
#include "runtime/definitions/definitions.h"
#include "runtime/definitions/refresher.h"

/* Narrows a query of definitions. */
void op_where_versions(struct op_query *to, const struct pawl_version_options *versions);
/* Brings a row's data in step with its flags. PAWL_EPARSE: it is damaged. */
PAWL_MUST_CHECK int op_definition_in_step(const struct pawl_op *op,
                                          struct pawl_definition_row *row);
/*
 * The row as it is stored, its data unread: for what must work on a definition that cannot be
 * parsed. PAWL_ENOTFOUND.
 */
PAWL_MUST_CHECK int op_definition_row(const struct pawl_op *op,
                                      const struct pawl_definition_ref *ref,
                                      struct pawl_definition_row *out);
/* PAWL_EPERM: the latest version of this definition is marked read-only. "": none is meant. */
PAWL_MUST_CHECK int op_definition_check_writable(const struct pawl_op *op,
                                                 struct pawl_str definition_id);
/*
 * Of what a designer sends, what designers edit (definitions_model.c); `keeps_id`: and the id of
 * the version. A missing root is an empty sequence.
 */
PAWL_MUST_CHECK int op_model_of(const struct pawl_op *op, const struct pawl_json *from,
                                bool keeps_id, struct pawl_json *out);
/* Whether it has the form of a definition. PAWL_EPARSE, with the place in `pointer` (NULL allowed).
 */
PAWL_MUST_CHECK int op_model_check(const struct pawl_op *op, const struct pawl_json *model,
                                   char *pointer);
/* Whether the engine can load it. The same. */
PAWL_MUST_CHECK int op_model_check_loadable(const struct pawl_op *op, const struct pawl_json *model,
                                            char *pointer);
/* Rows of these definitions, any number of them, without their data: latest or published ones. */
PAWL_MUST_CHECK int op_definitions_of(const struct pawl_op *op, enum pawl_version_pick pick,
                                      const struct pawl_str *definition_ids, size_t count,
                                      struct pawl_definition_list *out);

#endif
