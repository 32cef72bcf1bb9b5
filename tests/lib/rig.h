/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A definition on the test bench: the real vocabulary, one instance, one burst at a time through
 * burst.h alone. After every step the state goes through its stored text, and what the step handed
 * out is collected: the journal ("id Event" lines), the lines written, the other effects' kinds.
 *
 * Definitions and events are written with ' in place of ".
 */
#ifndef PAWL_TESTS_LIB_RIG_H
#define PAWL_TESTS_LIB_RIG_H

#include "engine/run/burst.h"
#include "lib/test.h"

#define RIG_NOW INT64_C(639029342450000000) /* 2026-01-02T03:04:05Z */

/* Pieces of definitions. */
#define RIG_INPUT(type, kind, value)                                                               \
    "{'typeName':'" type "','expression':{'type':'" kind "','value':" value "}}"
#define RIG_WRITE(id, text)                                                                        \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.WriteLine','text':" RIG_INPUT("String", "Literal", "'" text "'") "}"
#define RIG_EVENT(id, name)                                                                        \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.Event','eventName':" RIG_INPUT("String", "Literal", "'" name "'") "}"
#define RIG_FAULT(id, message)                                                                     \
    "{'id':'" id                                                                                   \
    "','type':'Elsa.Fault','message':" RIG_INPUT("String", "Literal", "'" message "'") "}"
#define RIG_SEQUENCE(id, activities)                                                               \
    "{'id':'" id "','type':'Elsa.Sequence','activities':[" activities "]}"
#define RIG_PARALLEL(id, activities)                                                               \
    "{'id':'" id "','type':'Elsa.Parallel','activities':[" activities "]}"
/* `more`: further members of the definition, each with a comma behind it. */
#define RIG_WORKFLOW(more, root)                                                                   \
    "{'definitionId':'d','id':'d:1','version':1," more "'root':" root "}"

struct rig {
    struct test_allocator own;
    const struct pawl_allocator *alloc; /* `own`, or the caller's */
    struct pawl_engine engine;
    struct pawl_arena arena; /* texts and definitions */
    struct pawl_graph *graph;
    struct pawl_burst *burst; /* NULL: none open */
    struct pawl_arena state_arena;
    struct pawl_json state; /* as last stored; null: none */
    struct pawl_buf journal;
    struct pawl_buf lines;
    uint32_t record_count; /* of the last step */
    uint64_t seed;         /* of the next event */
    int64_t now;
    struct pawl_error err;
};

void rig_init(struct rig *rig);
/* The same over another allocator. PAWL_ENOMEM: released already. */
int rig_init_over(struct rig *rig, const struct pawl_allocator *alloc);
/* Over the own allocator it demands that all memory came back. */
void rig_release(struct rig *rig);

/* Reads JSON written with '. PAWL_EPARSE, PAWL_ENOMEM. */
int rig_parse(struct rig *rig, struct pawl_str text, struct pawl_json *out);
/* Loads a definition in place of the one before; forgets the instance. */
int rig_try_load(struct rig *rig, struct pawl_str text);
void rig_load(struct rig *rig, const char *text);
/* Forgets the instance and what was collected. */
void rig_forget(struct rig *rig);

/* Opens a burst on the stored state. Time and seed are the rig's. */
int rig_open(struct rig *rig, const struct pawl_event *event);
/* One step: collects and stores. Nothing else is done, also at the end. */
int rig_try_step(struct rig *rig, enum pawl_step *step);
enum pawl_step rig_step(struct rig *rig);
void rig_close(struct rig *rig);
/* Steps to IDLE or DONE over COMMIT and YIELD, and closes. */
int rig_try_finish(struct rig *rig, enum pawl_step *last);
enum pawl_step rig_finish(struct rig *rig);
/* Open and finish, of a run, of the bookmark of an activity, of a cancel. */
enum pawl_step rig_run(struct rig *rig);
enum pawl_step rig_resume(struct rig *rig, const char *activity_id);
enum pawl_step rig_cancel(struct rig *rig);

/* The exported state (no internal section) as text in the rig's arena; needs an open burst. */
struct pawl_str rig_export(struct rig *rig);
/* What is at a path of the stored state, "incidents/0/message"; NULL when there is nothing. */
const struct pawl_json *rig_at(const struct rig *rig, const char *path);
/* The id of the bookmark that an activity made; "" none. */
struct pawl_str rig_bookmark(const struct rig *rig, const char *activity_id);
/* The stored context of an activity; NULL. */
const struct pawl_json *rig_context(const struct rig *rig, const char *activity_id);

#define assert_journal(rig, text) assert_str(pawl__buf_peek(&(rig)->journal), text)
#define assert_lines(rig, text) assert_str(pawl__buf_peek(&(rig)->lines), text)
#define assert_at(rig, path, text) assert_str(pawl__json_str(rig_at((rig), (path))), text)

#endif
