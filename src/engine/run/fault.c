/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions on their way up, and what they leave: a faulted context, an incident, a sub-status. */
#include "engine/run/instance.h"

#include "base/time/datetime.h"

#include <stdarg.h>
#include <stdio.h>

/* Not in the middle of a character. */
static struct pawl_str cut_message(struct pawl_str message)
{
    size_t len = message.len;

    if (len <= PAWL_EXCEPTION_MESSAGE_MAX)
        return message;
    len = PAWL_EXCEPTION_MESSAGE_MAX;
    while (len > 0 && ((unsigned char)message.ptr[len] & 0xC0) == 0x80)
        len--;
    return pawl__str_make(message.ptr, len);
}

PAWL_PRINTF(4, 0)
static int raise_formatted(struct pawl_context *context, const char *type,
                           const struct pawl_exception *inner, const char *format, va_list args)
{
    struct pawl_burst *burst = context->burst;
    struct pawl_exception *exception = pawl__arena_alloc(&burst->arena, sizeof *exception);
    va_list again;
    int length;
    char *text;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    text = pawl__arena_alloc_aligned(&burst->arena, (size_t)length + 1, 1);
    if (!exception || !text)
        return pawl__arena_status(&burst->arena);
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    *exception = (struct pawl_exception){
        .type = pawl__str(type),
        .message = cut_message(pawl__str_make(text, (size_t)length)),
        .inner = inner,
    };
    burst->exception = exception;
    return ENGINE_RAISED;
}

int pawl__raise(struct pawl_context *context, const char *type, const char *format, ...)
{
    va_list args;
    int status;

    va_start(args, format);
    status = raise_formatted(context, type, NULL, format, args);
    va_end(args);
    return status;
}

int pawl__raise_around(struct pawl_context *context, const char *type, const char *format, ...)
{
    va_list args;
    int status;

    va_start(args, format);
    status = raise_formatted(context, type, context->burst->exception, format, args);
    va_end(args);
    return status;
}

int pawl__raise_exception(struct pawl_context *context, const struct pawl_exception *exception)
{
    const struct pawl_exception **to = &context->burst->exception;

    for (int depth = 0; exception && depth <= PAWL_EXCEPTION_INNER_MAX; depth++) {
        struct pawl_exception *kept = pawl__arena_alloc(&context->burst->arena, sizeof *kept);

        if (!kept)
            return pawl__arena_status(&context->burst->arena);
        *kept = (struct pawl_exception){.type = exception->type,
                                        .message = cut_message(exception->message)};
        *to = kept;
        to = &kept->inner;
        exception = exception->inner;
    }
    return ENGINE_RAISED;
}

/* ---- faulting ---------------------------------------------------------------------------- */

static int add_incident(struct pawl_context *context)
{
    struct pawl_burst *burst = context->burst;
    int status = VECTOR_GROW(burst, &burst->incidents);

    if (status == PAWL_OK)
        burst->incidents.items[burst->incidents.count++] =
            (struct pawl_incident){.node = context->node,
                                   .activity_instance_id = context->id,
                                   .message = context->exception->message,
                                   .exception = context->exception,
                                   .timestamp = burst->now};
    return status;
}

/* Undoes what faulting did: an ancestor handled the fault. */
static void recover(struct pawl_context *context)
{
    context->fault_count = 0;
    for (struct pawl_context *above = context->parent; above; above = above->parent)
        above->fault_count--;
    context->burst->incidents.count--;
    context->exception = NULL;
    if (context->status == PAWL_ACTIVITY_FAULTED)
        context->status = PAWL_ACTIVITY_RUNNING;
}

static enum pawl_incident_strategy incident_strategy(const struct pawl_burst *burst)
{
    if (burst->graph->workflow->incident_strategy != PAWL_INCIDENT_DEFAULT)
        return burst->graph->workflow->incident_strategy;
    if (burst->engine->incident_strategy != PAWL_INCIDENT_DEFAULT)
        return burst->engine->incident_strategy;
    return PAWL_INCIDENT_FAULT;
}

int pawl__fault(struct pawl_context *context)
{
    struct pawl_burst *burst = context->burst;
    struct pawl_signal signal = {.kind = PAWL_SIGNAL_FAULT};
    int status;

    context->exception = burst->exception;
    context->status = PAWL_ACTIVITY_FAULTED;
    for (struct pawl_context *above = context; above; above = above->parent) {
        above->fault_count++;
        pawl__context_touch(above);
    }
    status = add_incident(context);
    if (status == PAWL_OK)
        status = pawl__signal_send(context, &signal);
    if (status < 0)
        return status;
    burst->exception = NULL;
    if (status == PAWL_OK && signal.stop) {
        recover(context);
        return PAWL_OK;
    }
    if (incident_strategy(burst) == PAWL_INCIDENT_FAULT &&
        !pawl__sub_status_is_final(burst->sub_status))
        return pawl__instance_move(NULL, burst, PAWL_SUB_FAULTED);
    return PAWL_OK;
}

/* ---- as JSON ----------------------------------------------------------------------------- */

/*
 * Types that Elsa has not registered under an alias: it stores them under their CLR name,
 * and reads them back as Exception.
 */
static const struct {
    const char *alias;
    const char *stored;
} unregistered[] = {
    {"ArgumentOutOfRangeException",
     "UnregisteredClrType:System.ArgumentOutOfRangeException, System.Private.CoreLib"},
    {"CronFormatException", "UnregisteredClrType:Cronos.CronFormatException, Cronos"},
    {"DivideByZeroException",
     "UnregisteredClrType:System.DivideByZeroException, System.Private.CoreLib"},
    {"FormatException", "UnregisteredClrType:System.FormatException, System.Private.CoreLib"},
    {"InputEvaluationException", "UnregisteredClrType:Elsa.Workflows.Exceptions."
                                 "InputEvaluationException, Elsa.Workflows.Core"},
    {"InvalidCastException",
     "UnregisteredClrType:System.InvalidCastException, System.Private.CoreLib"},
    {"JsonException", "UnregisteredClrType:System.Text.Json.JsonException, System.Text.Json"},
    {"KeyNotFoundException", "UnregisteredClrType:System.Collections.Generic.KeyNotFoundException, "
                             "System.Private.CoreLib"},
    {"MissingMethodException",
     "UnregisteredClrType:System.MissingMethodException, System.Private.CoreLib"},
    {"TypeConversionException", "UnregisteredClrType:Elsa.Expressions.Exceptions."
                                "TypeConversionException, Elsa.Expressions"},
    {"OverflowException", "UnregisteredClrType:System.OverflowException, System.Private.CoreLib"},
};

static struct pawl_str stored_type(struct pawl_str alias)
{
    for (size_t i = 0; i < sizeof unregistered / sizeof *unregistered; i++) {
        if (pawl__str_is(alias, unregistered[i].alias))
            return pawl__str(unregistered[i].stored);
    }
    return alias;
}

int pawl__exception_json(const struct pawl_exception *exception, struct pawl_arena *arena,
                         struct pawl_json *out)
{
    struct pawl_json inner;
    int status;

    *out = pawl__json_object();
    status =
        pawl__json_set_text(arena, out, "type", pawl__json_string(stored_type(exception->type)));
    if (status == PAWL_OK)
        status = pawl__json_set_text(arena, out, "message", pawl__json_string(exception->message));
    if (status == PAWL_OK && exception->inner) {
        status = pawl__exception_json(exception->inner, arena, &inner);
        if (status == PAWL_OK)
            status = pawl__json_set_text(arena, out, "innerException", inner);
    }
    return status;
}
