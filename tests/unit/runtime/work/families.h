/* SPDX-License-Identifier: Apache-2.0 */
/* Parents and children, for tests of what they tell each other. */
#ifndef PAWL_TESTS_UNIT_RUNTIME_WORK_FAMILIES_H
#define PAWL_TESTS_UNIT_RUNTIME_WORK_FAMILIES_H

#include "runtime/work/requests.h"

/* With one child for each of the list in the variable v. */
#define BULK(id, definition)                                                                       \
    "{'id':'" id "','type':'Elsa.BulkDispatchWorkflows','waitForCompletion':" RIG_INPUT(           \
        "Boolean", "Literal",                                                                      \
        "true") ",'workflowDefinitionId':" TEXT(definition) ",'items':" RIG_INPUT("Object",        \
                                                                                  "Variable",      \
                                                                                  "{'id':'v'}") "}"

static inline void send_event_to(struct fixture *f, const char *name, struct pawl_str instance_id)
{
    const struct pawl_stimulus to = {.instance_id = instance_id, .detached = true};
    struct pawl_sent sent;

    assert_ok(pawl__runtime_send_event(f->a.runtime, pawl__str(name), NULL, &to, &sent, later(f),
                                       &f->err),
              &f->err);
    work(f, &f->a);
}

static inline void send_event(struct fixture *f, const char *name)
{
    send_event_to(f, name, pawl__str(""));
}

static inline const char *launch(struct fixture *f, const char *definition_id)
{
    struct pawl_outcome outcome;

    f->a.script.answers = NULL;
    outcome = start_until(f, definition_id, pawl_env_monotonic_ns(f->env));
    work(f, &f->a);
    return pawl__arena_str(&f->arena, pawl__str(outcome.instance_id)).ptr;
}

/* The id of an instance of this definition. */
static inline struct pawl_str one_of(struct fixture *f, const char *definition_id)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "definition_id"),
        .value = {.text = pawl__str(definition_id)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES, .conditions = &condition, .condition_count = 1, .limit = 10};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &rows, later(f), &f->err), &f->err);
    assert_true(rows.count > 0);
    return ((const struct pawl_instance_row *)rows.rows)[0].id;
}

/* Another thread stores what became of a request. */
static inline bool has_faulted(struct fixture *f, const char *id)
{
    work(f, &f->a);
    return strcmp(sub_status(f, id), "Faulted") == 0;
}

#endif
