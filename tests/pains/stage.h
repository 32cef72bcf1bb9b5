/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node on a store for tests of known problems: opened by URI or on a memory database that
 * several share, with decorators that count or fail, and the few things that all tests do with it.
 *
 * The numbers of a test are those of its short form; PAINS_LONG in the environment asks for the
 * long one. Every function fails the test when something goes wrong, except those that say
 * otherwise: threads use only these, as cmocka's checks belong to the main thread.
 */
#ifndef PAWL_TESTS_PAINS_STAGE_H
#define PAWL_TESTS_PAINS_STAGE_H

#include "base/arena.h"
#include "lib/rig.h"
#include "runtime/node/pool.h"
#include "runtime/runtime.h"
#include "stores/stores.h"

#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

/* ---- definitions, with ' in place of " ------------------------------------------------------ */

#define TEXT(value) RIG_INPUT("String", "Literal", "'" value "'")
#define LIQUID(value) RIG_INPUT("String", "Liquid", "'" value "'")
#define TRIGGER(id, name)                                                                          \
    "{'id':'" id "','type':'Elsa.Event','customProperties':{'canStartWorkflow':true},"             \
    "'eventName':" TEXT(name) "}"
#define DELAY(id, span)                                                                            \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.Delay','timeSpan':" RIG_INPUT("TimeSpan", "Literal", "'" span "'") "}"
/* Counts in a variable, and shows the count as the name of the instance. */
#define COUNT(id)                                                                                  \
    "{'id':'" id "','type':'Elsa.SetVariable','variable':{'id':'Counter','name':'Counter'},"       \
    "'value':" LIQUID(                                                                             \
        "{{ Variables.Counter | plus: 1 }}") "},"                                                  \
                                             "{'id':'" id                                          \
                                             "-name','type':'Elsa.SetName','value':" LIQUID(       \
                                                 "{{ Variables.Counter }}") "}"
#define COUNTER                                                                                    \
    "'variables':[{'id':'Counter','name':'Counter','typeName':'Int32','value':0,"                  \
    "'storageDriverTypeName':'WorkflowInstanceStorageDriver'}],"
#define DEFINITION(id, more, activities)                                                           \
    "{'definitionId':'" id "','id':'" id ":1','version':1,'name':'" id "'," more                   \
    "'root':" RIG_SEQUENCE("seq", activities) "}"
/* Waits for the event Go again and again, and counts. */
#define COUNTING(id)                                                                               \
    DEFINITION(                                                                                    \
        id, COUNTER,                                                                               \
        "{'id':'loop','type':'Elsa.While','condition':" RIG_INPUT(                                 \
            "Boolean", "Literal",                                                                  \
            "true") ",'body':" RIG_SEQUENCE("body", RIG_EVENT("e", "Go") "," COUNT("c")) "}")

/* ---- the stage ----------------------------------------------------------------------------- */

struct stage_options {
    const char *uri;                       /* "sqlite:PATH" or what libpq calls a URI; or */
    struct pawl_memory_database *database; /* of the same environment; NULL: one of its own */
    struct pawl_env *env;                  /* NULL: the system's, opened and closed here */
    const char *node;                      /* NULL: "a" */
    int64_t lease_us;
    struct pawl_store_fault_hooks faults; /* `decide` NULL: none */
    bool trace;
    struct pawl_runtime_hooks hooks;
    uint32_t yield_after; /* 0: the engine's */
};

struct stage {
    struct pawl_env *env;
    bool owns_env;
    struct pawl_engine engine;
    struct pawl_store *store;
    struct pawl_runtime *runtime;
    struct pawl_arena arena;
    struct pawl_error err;
};

/* Answers instead of failing the test: for threads and forked processes. */
PAWL_MUST_CHECK int stage_try_open(struct stage *stage, const struct stage_options *options);
void stage_open(struct stage *stage, const struct stage_options *options);
void stage_close(struct stage *stage);

int64_t stage_later(const struct stage *stage);
/* Whether the long form was asked for: then `many`, else `few`. */
unsigned stage_size(unsigned few, unsigned many);

struct pawl_json stage_json(struct stage *stage, const char *text);
void stage_publish(struct stage *stage, const char *text);
void stage_start(struct stage *stage, const char *definition_id, const char *instance_id);
/* Answers. */
PAWL_MUST_CHECK int stage_send(struct stage *stage, const char *event, const char *key,
                               struct pawl_sent *sent);
/* Does what is due until nothing is due. */
void stage_drain(struct stage *stage);
/* Waits until nothing is left to do, also later; with `work` it does what is due itself. Fails the
 * test when that takes a minute. */
void stage_settle(struct stage *stage, bool work);

/* Prints what hangs, and why: the first few. */
void stage_show_work(struct stage *stage);

/* "gone" when it is not there. In the stage's arena, as is everything that is answered. */
const char *stage_sub_status(struct stage *stage, const char *instance_id);
const char *stage_name(struct stage *stage, const char *instance_id);
uint64_t stage_count(struct stage *stage, enum pawl_table table);

#endif
