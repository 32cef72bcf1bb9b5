/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node with activities that end the process: Test.Die as soon as it is executed, Test.Call when
 * its call is performed. Use: deadly-node STORE publish|send|call|work|tame NAME
 */
#include <pawl/pawl.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DIED 9

static int die(void *ctx, struct pawl_context *context)
{
    const bool *is_tame = ctx;

    (void)context;
    if (!*is_tame)
        _exit(DIED);
    return PAWL_OK;
}

static int call(void *ctx, struct pawl_context *context)
{
    (void)ctx;
    return pawl_context_call(context, NULL);
}

static int perform(void *ctx, struct pawl_call *asked, struct pawl_error *err)
{
    const bool *is_tame = ctx;

    if (!*is_tame)
        _exit(DIED);
    return pawl_call_return(asked, "true", err);
}

static int publish(struct pawl *pawl, struct pawl_error *err)
{
#define LITERAL(text)                                                                              \
    "{\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\",\"value\":\"" text "\"}}"
#define BY_EVENT(id, event, next)                                                                  \
    "{\"definitionId\":\"" id "\",\"root\":{\"id\":\"s\",\"type\":\"Elsa.Sequence\","              \
    "\"activities\":[{\"id\":\"e\",\"type\":\"Elsa.Event\",\"eventName\":" LITERAL(                \
        event) ",\"customProperties\":{\"canStartWorkflow\":true}}," next "]}}"
    static const char *const definitions[] = {
        BY_EVENT("deadly", "Die", "{\"id\":\"d\",\"type\":\"Test.Die\"}"),
        BY_EVENT("healthy", "Well",
                 "{\"id\":\"w\",\"type\":\"Elsa.WriteLine\",\"text\":" LITERAL("well") "}"),
        "{\"definitionId\":\"caller\",\"root\":{\"id\":\"c\",\"type\":\"Test.Call\"}}",
    };
    int status = PAWL_OK;

    for (size_t i = 0; i < sizeof definitions / sizeof definitions[0] && status == PAWL_OK; i++)
        status = pawl_definition_publish(pawl, definitions[i], NULL, NULL, NULL, err);
    return status;
}

/* One start that kills, and many that wait beside it. */
static int send(struct pawl *pawl, struct pawl_error *err)
{
    int status = pawl_event_send(pawl, "Die", NULL, NULL, NULL, err);

    for (int i = 0; i < 20 && status == PAWL_OK; i++)
        status = pawl_event_send(pawl, "Well", NULL, NULL, NULL, err);
    return status;
}

static int start_caller(struct pawl *pawl, struct pawl_error *err)
{
    const struct pawl_start_options start = {.definition_id = "caller", .instance_id = "caller-1"};

    return pawl_instance_start(pawl, &start, NULL, err);
}

int main(int argc, char **argv)
{
    const char *what = argc > 3 ? argv[2] : "";
    bool is_tame = strcmp(what, "tame") == 0, works = is_tame || strcmp(what, "work") == 0;
    const struct pawl_activity_type types[] = {
        {.type = "Test.Die", .execute = die, .ctx = &is_tame},
        {.type = "Test.Call", .execute = call, .perform = perform, .ctx = &is_tame},
    };
    const struct pawl_options options = {
        .store = argc > 3 ? argv[1] : NULL,
        .node_id = argc > 3 ? argv[3] : NULL,
        .workers = works ? 2 : 0,
        .lease_ms = 1000,
        .activities = types,
        .activity_count = sizeof types / sizeof types[0],
    };
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl *pawl = NULL;
    int status = argc > 3 ? pawl_open(&options, &pawl, &err) : PAWL_EINVAL;

    if (status == PAWL_OK && strcmp(what, "publish") == 0)
        status = publish(pawl, &err);
    else if (status == PAWL_OK && strcmp(what, "send") == 0)
        status = send(pawl, &err);
    else if (status == PAWL_OK && strcmp(what, "call") == 0)
        status = start_caller(pawl, &err);
    while (status == PAWL_OK && works)
        (void)pause(); /* until it is killed, or dies of its work */
    pawl_close(pawl);
    if (status != PAWL_OK)
        (void)fprintf(stderr, "%s: %s\n", pawl_error_name(status), err.msg);
    return status == PAWL_OK ? 0 : 1;
}
