/* SPDX-License-Identifier: Apache-2.0 */
/* Alterations; see alter.h. Nothing here runs an activity: it queues, and the burst's steps run. */
#include "engine/run/alter.h"

#include "base/error.h"
#include "engine/run/instance.h"

#include <stdarg.h>
#include <stdio.h>

/* Of a log record; ids are cut. */
#define MESSAGE_MAX 512

/* One alteration being applied. */
struct altering {
    struct pawl_burst *burst;
    const struct pawl_json *state; /* as stored */
    const struct pawl_json *one;   /* in the burst's arena */
    uint32_t number;               /* from 1, for messages */
    struct pawl_error *err;
};

struct alteration_type {
    const char *name;
    /* NULL: has what it needs; else what it lacks. */
    const char *(*lacks)(const struct pawl_json *one);
    int (*apply)(struct altering *a);
};

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    struct pawl_str text = pawl__json_str(pawl__json_get_text(object, key));

    return text.len > 0 ? text : pawl__str("");
}

/* The engine's status, with an exception turned into an error. */
static int raised_to_error(struct altering *a, int status)
{
    const struct pawl_exception *raised = a->burst->exception;

    if (status == PAWL_OK)
        return PAWL_OK;
    if (status != ENGINE_RAISED)
        return pawl__error_code(a->err, status);
    a->burst->exception = NULL;
    return pawl__error_set(a->err, PAWL_EINVAL, "%.*s",
                           PAWL_STR_ARG(raised ? raised->message : pawl__str("it was refused")));
}

PAWL_PRINTF(2, 3)
static int record_message(struct altering *a, const char *format, ...)
{
    char text[MESSAGE_MAX];
    struct pawl_str kept;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    kept = pawl__arena_str(&a->burst->arena, pawl__str(text));
    if (!kept.ptr)
        return pawl__error_code(a->err, pawl__arena_status(&a->burst->arena));
    return raised_to_error(a, pawl__log_workflow(a->burst, PAWL_LOG_ALTERED, kept, a->one));
}

/* ---- migrating ----------------------------------------------------------------------------- */

static const char *migrate_lacks(const struct pawl_json *one)
{
    int64_t version;

    return pawl__json_to_int(pawl__json_get_text(one, "targetVersion"), &version) && version > 0
               ? NULL
               : "targetVersion, a number from 1";
}

static bool has_ended(const struct pawl_json *context)
{
    struct pawl_str status = text_of(context, "status");

    return pawl__str_is(status, pawl__activity_status_name(PAWL_ACTIVITY_COMPLETED)) ||
           pawl__str_is(status, pawl__activity_status_name(PAWL_ACTIVITY_CANCELED));
}

/* Loading skips what the graph does not have; here that would lose the position. */
static int check_place(struct altering *a, const struct pawl_json *array, const char *key,
                       bool live_only)
{
    for (uint32_t i = 0; i < pawl__json_len(array); i++) {
        const struct pawl_json *one = pawl__json_at(array, i);

        if ((live_only && has_ended(one)) || pawl__graph_node(a->burst->graph, text_of(one, key)))
            continue;
        return pawl__error_set(
            a->err, PAWL_ECONFLICT,
            "version %lld has no activity %.*s, where the instance stands: cancel it there first",
            (long long)a->burst->graph->workflow->version, PAWL_STR_ARG(text_of(one, key)));
    }
    return PAWL_OK;
}

static int migrate(struct altering *a)
{
    const struct pawl_workflow *workflow = a->burst->graph->workflow;
    int64_t from = a->burst->definition_version;
    int status = PAWL_OK;

    if (!pawl__str_equal(a->burst->definition_id, workflow->definition_id))
        return pawl__error_set(a->err, PAWL_EINVAL, "%.*s is another definition than %.*s",
                               PAWL_STR_ARG(workflow->definition_id),
                               PAWL_STR_ARG(a->burst->definition_id));
    if (!pawl__sub_status_is_final(a->burst->sub_status)) {
        status = check_place(a, pawl__json_get_text(a->state, "activityExecutionContexts"),
                             "scheduledActivityNodeId", true);
        if (status == PAWL_OK)
            status = check_place(a, pawl__json_get_text(a->state, "scheduledActivities"),
                                 "activityNodeId", false);
        if (status == PAWL_OK)
            status =
                check_place(a, pawl__json_get_text(a->state, "bookmarks"), "activityNodeId", false);
    }
    if (status != PAWL_OK)
        return status;
    a->burst->definition_version_id = workflow->version_id;
    a->burst->definition_version = workflow->version;
    return record_message(a, "Migrated from version %lld to version %lld", (long long)from,
                          (long long)workflow->version);
}

/* ---- variables ----------------------------------------------------------------------------- */

static const char *modify_lacks(const struct pawl_json *one)
{
    return text_of(one, "variableId").len > 0 ? NULL : "variableId";
}

static int set_in(struct altering *a, struct pawl_context *context,
                  const struct pawl_variable *variable, const struct pawl_json *value)
{
    struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_exception raised = {0};
    struct pawl_value converted;
    int status =
        pawl__convert(&how, pawl__value_from_json(*value), variable->type, &converted, &raised);

    if (status == ENGINE_RAISED)
        return pawl__error_set(a->err, PAWL_EINVAL, "variable %.*s cannot have this value: %.*s",
                               PAWL_STR_ARG(variable->name), PAWL_STR_ARG(raised.message));
    if (status == PAWL_OK)
        status = pawl__memory_set(context, variable->id, converted);
    pawl__context_touch(context);
    return raised_to_error(a, status);
}

/* In every execution that declares it; a loop's body may have several. */
static int modify_variable(struct altering *a)
{
    static const struct pawl_json null = {.type = PAWL_JSON_NULL};
    struct pawl_str id = text_of(a->one, "variableId"), name = pawl__str("");
    const struct pawl_json *value = pawl__json_get_text(a->one, "value");
    struct pawl_context *context;
    uint32_t count = 0;
    int status = PAWL_OK;

    PAWL_FOR_EACH_CONTEXT(context, a->burst)
    {
        struct pawl_context *scope = NULL;
        const struct pawl_variable *variable = pawl__variable_with_id(context, id, &scope);

        if (status != PAWL_OK || !variable || scope != context ||
            (context->parent && pawl__context_ended(context)))
            continue;
        status = set_in(a, context, variable, value ? value : &null);
        name = variable->name;
        count++;
    }
    if (status != PAWL_OK)
        return status;
    if (count == 0)
        return pawl__error_set(a->err, PAWL_ENOTFOUND,
                               "no activity that is being executed declares a variable with the id "
                               "%.*s",
                               PAWL_STR_ARG(id));
    return record_message(a, "Variable %.*s was set", PAWL_STR_ARG(name));
}

/* ---- scheduling ---------------------------------------------------------------------------- */

static const char *activity_lacks(const struct pawl_json *one)
{
    return text_of(one, "activityId").len > 0 || text_of(one, "activityInstanceId").len > 0
               ? NULL
               : "activityId or activityInstanceId";
}

static int reopen(struct altering *a)
{
    struct pawl_burst *burst = a->burst;

    if (!pawl__sub_status_is_final(burst->sub_status))
        return PAWL_OK;
    if (burst->sub_status != PAWL_SUB_FAULTED)
        return pawl__error_set(a->err, PAWL_ECONFLICT,
                               "instance %.*s is %s: only one that has faulted is run again",
                               PAWL_STR_ARG(burst->id), pawl__sub_status_name(burst->sub_status));
    burst->sub_status = PAWL_SUB_SUSPENDED;
    burst->finished_at = 0;
    return PAWL_OK;
}

static bool has_callback(const struct pawl_context *owner, const struct pawl_node *child)
{
    const struct pawl_callback_entry *entry;

    PAWL_LIST_FOR_EACH (entry, &owner->callbacks, own) {
        if (entry->child == child)
            return true;
    }
    return false;
}

/* The callback of a type that has only one; NULL. */
static const char *only_callback(const struct pawl_activity *activity)
{
    const struct pawl_completion_callback *all = activity->completions;

    return all && all[0].method && !all[1].method ? all[0].method : NULL;
}

/*
 * As a child of `owner`. A flowchart schedules by itself, so that it follows the connections
 * afterwards. An execution that faulted still has its owner's callback, except one whose end the
 * owner could not deal with.
 */
static int schedule(struct altering *a, struct pawl_context *owner, const struct pawl_node *node,
                    struct pawl_context *existing)
{
    struct pawl_signal signal = {
        .kind = PAWL_SIGNAL_SCHEDULE_CHILD, .child = node, .existing = existing};
    struct pawl_schedule plain = {.node = node, .existing = existing};
    int status = PAWL_OK;

    if (!owner) {
        const struct pawl_work_item item = {.node = node, .existing = existing};

        return raised_to_error(a, pawl__queue_push(a->burst, &item));
    }
    if (!(existing && has_callback(owner, node))) {
        if (owner->node->activity->signal)
            status = owner->node->activity->signal(owner, &signal);
        if (status != PAWL_OK || signal.stop)
            return raised_to_error(a, status);
        if (existing)
            plain.callback = only_callback(owner->node->activity);
    }
    return raised_to_error(a, pawl__schedule(owner, &plain));
}

static int schedule_existing(struct altering *a, struct pawl_context *context)
{
    if (pawl__context_ended(context))
        return pawl__error_set(a->err, PAWL_ECONFLICT, "execution %.*s of activity %.*s has ended",
                               PAWL_STR_ARG(context->id), PAWL_STR_ARG(context->node->id));
    if (context->queued > 0)
        return PAWL_OK;
    if (context->status == PAWL_ACTIVITY_FAULTED) {
        context->status = PAWL_ACTIVITY_RUNNING;
        context->exception = NULL;
    }
    pawl__context_touch(context);
    return schedule(a, context->parent, context->node, context);
}

/* Under the nearest activity above it that is being executed. */
static int schedule_new(struct altering *a, const struct pawl_node *node)
{
    for (const struct pawl_node *above = node->parent; above; above = above->parent) {
        struct pawl_context *owner;

        PAWL_FOR_EACH_CONTEXT(owner, a->burst)
        {
            if (owner->node == above && !pawl__context_ended(owner))
                return schedule(a, owner, node, NULL);
        }
    }
    return pawl__error_set(a->err, PAWL_ECONFLICT,
                           "nothing that contains activity %.*s is being executed",
                           PAWL_STR_ARG(node->id));
}

static struct pawl_context *live_context(const struct pawl_burst *burst,
                                         const struct pawl_node *node)
{
    struct pawl_context *context;

    PAWL_FOR_EACH_CONTEXT(context, burst)
    {
        if (context->node == node && !pawl__context_ended(context))
            return context;
    }
    return NULL;
}

static int find_execution(struct altering *a, struct pawl_context **out)
{
    struct pawl_str id = text_of(a->one, "activityInstanceId");

    *out = pawl__context_by_id(a->burst, id);
    if (*out)
        return PAWL_OK;
    return pawl__error_set(a->err, PAWL_ENOTFOUND, "there is no activity execution %.*s",
                           PAWL_STR_ARG(id));
}

static int find_node(struct altering *a, const struct pawl_node **out)
{
    struct pawl_str id = text_of(a->one, "activityId");

    *out = pawl__graph_activity(a->burst->graph, id);
    if (*out)
        return PAWL_OK;
    return pawl__error_set(a->err, PAWL_ENOTFOUND,
                           "version %lld of the definition has no activity %.*s, or several",
                           (long long)a->burst->graph->workflow->version, PAWL_STR_ARG(id));
}

static int schedule_activity(struct altering *a)
{
    const struct pawl_node *node = NULL;
    struct pawl_context *context = NULL;
    int status = reopen(a);

    if (status == PAWL_OK && text_of(a->one, "activityInstanceId").len > 0)
        status = find_execution(a, &context);
    else if (status == PAWL_OK)
        status = find_node(a, &node);
    if (status == PAWL_OK && !context)
        context = live_context(a->burst, node);
    if (status == PAWL_OK)
        status = context ? schedule_existing(a, context) : schedule_new(a, node);
    if (status != PAWL_OK)
        return status;
    return record_message(a, "Activity %.*s was scheduled",
                          PAWL_STR_ARG(context ? context->node->id : node->id));
}

/* ---- retrying ------------------------------------------------------------------------------ */

static const char *retry_lacks(const struct pawl_json *one)
{
    const struct pawl_json *ids = pawl__json_get_text(one, "activityIds");

    return !ids || pawl__json_is(ids, PAWL_JSON_ARRAY) || pawl__json_is(ids, PAWL_JSON_NULL)
               ? NULL
               : "activityIds as an array";
}

/* Of one activity, by its id or an execution's; of all when `id` is "". */
static int retry_faulted(struct altering *a, struct pawl_str id, uint32_t *count)
{
    struct pawl_context *context;
    uint32_t before = *count;
    int status = PAWL_OK;

    PAWL_FOR_EACH_CONTEXT(context, a->burst)
    {
        if (status != PAWL_OK || context->status != PAWL_ACTIVITY_FAULTED ||
            (id.len > 0 && !pawl__str_equal(context->node->id, id) &&
             !pawl__str_equal(context->id, id)))
            continue;
        status = schedule_existing(a, context);
        (*count)++;
    }
    if (status != PAWL_OK || *count > before)
        return status;
    if (id.len == 0)
        return pawl__error_set(
            a->err, PAWL_ECONFLICT,
            "no activity of instance %.*s has faulted: there is nothing to retry",
            PAWL_STR_ARG(a->burst->id));
    return pawl__error_set(a->err, PAWL_ENOTFOUND, "activity %.*s of instance %.*s has not faulted",
                           PAWL_STR_ARG(id), PAWL_STR_ARG(a->burst->id));
}

static int retry(struct altering *a)
{
    const struct pawl_json *ids = pawl__json_get_text(a->one, "activityIds");
    uint32_t count = 0;
    int status = reopen(a);

    for (uint32_t i = 0; i < pawl__json_len(ids) && status == PAWL_OK; i++) {
        struct pawl_str id = pawl__json_str(pawl__json_at(ids, i));

        status = id.len > 0 ? retry_faulted(a, id, &count)
                            : pawl__error_set(a->err, PAWL_EINVAL, "an activity id is empty");
    }
    if (status == PAWL_OK && pawl__json_len(ids) == 0)
        status = retry_faulted(a, pawl__str(""), &count);
    if (status != PAWL_OK)
        return status;
    return record_message(a, "Retried; activities scheduled again: %u", count);
}

/* ---- cancelling ---------------------------------------------------------------------------- */

static int cancel_activity(struct altering *a)
{
    const struct pawl_node *node = NULL;
    struct pawl_context *context = NULL;
    uint32_t count = 0;
    int status;

    if (text_of(a->one, "activityInstanceId").len > 0) {
        status = find_execution(a, &context);
        count = status == PAWL_OK && !pawl__context_ended(context);
        if (status == PAWL_OK)
            status = raised_to_error(a, pawl__cancel(context));
    } else {
        status = find_node(a, &node);
        while (status == PAWL_OK && (context = live_context(a->burst, node)) != NULL) {
            status = raised_to_error(a, pawl__cancel(context));
            count++;
        }
    }
    if (status != PAWL_OK)
        return status;
    return record_message(a, "Executions that were cancelled: %u", count);
}

static int cancel(struct altering *a)
{
    if (pawl__sub_status_is_final(a->burst->sub_status))
        return record_message(a, "The instance had ended already");
    a->burst->cancel_requested = true;
    return record_message(a, "The instance is cancelled");
}

/* ---- all ----------------------------------------------------------------------------------- */

static const char *lacks_nothing(const struct pawl_json *one)
{
    (void)one;
    return NULL;
}

static const struct alteration_type types[] = {
    {"Migrate", migrate_lacks, migrate},
    {"ModifyVariable", modify_lacks, modify_variable},
    {"ScheduleActivity", activity_lacks, schedule_activity},
    {"CancelActivity", activity_lacks, cancel_activity},
    {"Cancel", lacks_nothing, cancel},
    {"Retry", retry_lacks, retry},
};

static const struct alteration_type *type_of(const struct pawl_json *one)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (pawl__str_is(text_of(one, "type"), types[i].name))
            return &types[i];
    }
    return NULL;
}

static int check(const struct pawl_json *one, uint32_t number, struct pawl_error *err)
{
    const struct alteration_type *type = type_of(one);
    const char *lacks;

    if (!type)
        return pawl__error_set(err, PAWL_EINVAL,
                               "alteration %u has the unknown type '%.*s': there are Migrate, "
                               "ModifyVariable, ScheduleActivity, CancelActivity, Cancel and Retry",
                               number, PAWL_STR_ARG(text_of(one, "type")));
    lacks = type->lacks(one);
    if (lacks)
        return pawl__error_set(err, PAWL_EINVAL, "alteration %u (%s) needs %s", number, type->name,
                               lacks);
    return PAWL_OK;
}

int pawl__alterations_target(const struct pawl_json *alterations, int64_t *version,
                             struct pawl_error *err)
{
    uint32_t count = pawl__json_len(alterations);
    int64_t target = 0;
    int status = PAWL_OK;

    if (!pawl__json_is(alterations, PAWL_JSON_ARRAY) || count == 0)
        return pawl__error_set(err, PAWL_EINVAL,
                               "alterations are a JSON array with at least one of them");
    if (count > PAWL_ALTERATIONS_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "%u alterations are too many: %u are the most",
                               count, PAWL_ALTERATIONS_MAX);
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        const struct pawl_json *one = pawl__json_at(alterations, i);

        status = check(one, i + 1, err);
        if (status != PAWL_OK || !pawl__str_is(text_of(one, "type"), "Migrate"))
            continue;
        if (target != 0)
            return pawl__error_set(err, PAWL_EINVAL,
                                   "alteration %u is a second migration: one is the most", i + 1);
        (void)pawl__json_to_int(pawl__json_get_text(one, "targetVersion"), &target);
    }
    if (status == PAWL_OK)
        *version = target;
    return status;
}

int pawl__alter(struct pawl_burst *burst, const struct pawl_json *state,
                const struct pawl_json *alterations, struct pawl_error *err)
{
    struct altering a = {.burst = burst, .state = state, .err = err};
    struct pawl_json copy;
    int64_t target;
    int status = pawl__alterations_target(alterations, &target, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__json_copy(&burst->arena, alterations, &copy);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (target != 0 && target != burst->graph->workflow->version)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the migration is to version %lld, the graph is of version %lld",
                               (long long)target, (long long)burst->graph->workflow->version);
    for (uint32_t i = 0; i < pawl__json_len(&copy) && status == PAWL_OK; i++) {
        const struct alteration_type *type;

        a.one = pawl__json_at(&copy, i);
        a.number = i + 1;
        type = type_of(a.one);
        PAWL_ASSERT(type); /* all were checked above */
        status = type->apply(&a);
        if (status != PAWL_OK)
            return pawl__error_prefix(err, status, "alteration %u (%s)", a.number, type->name);
    }
    return PAWL_OK;
}
