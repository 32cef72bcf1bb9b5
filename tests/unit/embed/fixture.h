/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime on the memory store, and what tests of the public API do with it. */
#ifndef PAWL_TESTS_UNIT_EMBED_FIXTURE_H
#define PAWL_TESTS_UNIT_EMBED_FIXTURE_H

#include <pawl/pawl.h>

#include "lib/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(value) RIG_INPUT("String", "Literal", "'" value "'")
#define DEFINITION(id, activities)                                                                 \
    "{'definitionId':'" id "','root':" RIG_SEQUENCE("seq", activities) "}"
#define TASK(id, name)                                                                             \
    "{'id':'" id "','type':'Elsa.RunTask','taskName':" TEXT(name) ",'payload':" RIG_INPUT(         \
        "ObjectDictionary", "Object", "'{\\'n\\': 1}'") "}"

struct fixture {
    struct pawl *pawl;
    struct pawl_error err;
    char lines[1024];
    char task[512]; /* "instance name payload" of the last */
    char task_id[128];
    int task_count;
};

static inline void on_line(void *ctx, const char *instance_id, const char *text)
{
    struct fixture *f = ctx;
    size_t len = strlen(f->lines);

    assert_true(strlen(instance_id) > 0);
    snprintf(f->lines + len, sizeof f->lines - len, "%s\n", text);
}

static inline void on_task(void *ctx, const char *instance_id, const char *task_id,
                           const char *task_name, const char *payload)
{
    struct fixture *f = ctx;

    snprintf(f->task, sizeof f->task, "%s %s %s", instance_id, task_name, payload);
    snprintf(f->task_id, sizeof f->task_id, "%s", task_id);
    f->task_count++;
}

static inline void open_with(struct fixture *f, struct pawl_options options)
{
    *f = (struct fixture){.err = PAWL_ERROR_INIT};
    if (!options.store)
        options.store = "memory:";
    options.line = on_line;
    options.task = on_task;
    options.ctx = f;
    assert_ok(pawl_open(&options, &f->pawl, &f->err), &f->err);
}

static inline void open_fixture(struct fixture *f)
{
    open_with(f, (struct pawl_options){0});
}

/* JSON written with ' in place of "; the caller frees it. */
static inline char *quoted(const char *text)
{
    char *copy = strdup(text);

    assert_non_null(copy);
    for (char *c = copy; *c; c++) {
        if (*c == '\'')
            *c = '"';
    }
    return copy;
}

static inline int try_publish(struct pawl *pawl, const char *text, struct pawl_error *err)
{
    char *json = quoted(text);
    int status = pawl_definition_publish(pawl, json, NULL, NULL, NULL, err);

    free(json);
    return status;
}

static inline void publish(struct fixture *f, const char *text)
{
    assert_ok(try_publish(f->pawl, text, &f->err), &f->err);
}

static inline struct pawl_instance_outcome start(struct fixture *f, const char *definition_id)
{
    const struct pawl_start_options options = {.definition_id = definition_id};
    struct pawl_instance_outcome outcome;

    assert_ok(pawl_instance_start(f->pawl, &options, &outcome, &f->err), &f->err);
    return outcome;
}

static inline void drain(struct fixture *f)
{
    assert_ok(pawl_drain(f->pawl, 60000, NULL, &f->err), &f->err);
}

/* The JSON of the state has this in it. */
static inline void assert_state_has(struct fixture *f, const char *instance_id, const char *text)
{
    char *json = NULL, *wanted = quoted(text);

    assert_ok(pawl_instance_show(f->pawl, instance_id, &json, &f->err), &f->err);
    if (!strstr(json, wanted))
        fail_msg("no %s in %s", wanted, json);
    pawl_text_free(f->pawl, json);
    free(wanted);
}

#endif
