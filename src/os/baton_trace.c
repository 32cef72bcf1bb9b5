/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the baton reports: the trace of its decisions, and which thread waits for what.
 *
 * Invariant: nothing here depends on an address, a real clock or a real thread id.
 */
#include "base/error.h"
#include "os/baton_core.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Longer lines are cut. Labels are bounded, so that only absurd ones are. */
#define LINE_SIZE 320

#define FNV_PRIME UINT64_C(0x100000001b3)
#define NS_PER_S INT64_C(1000000000)

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * FNV_PRIME;
    return hash;
}

/* Drops the older half of the trace, whole lines. */
static void forget_oldest(struct pawl_baton *baton)
{
    struct pawl_str all = pawl__str_make(baton->trace, baton->trace_len);
    size_t end = pawl__str_find(all, '\n', all.len / 2);

    PAWL_ASSERT(end != SIZE_MAX);
    memmove(baton->trace, baton->trace + end + 1, all.len - end - 1);
    baton->trace_len = all.len - end - 1;
}

/* A line in the making. By hand: a tenth of a simulation's time went into snprintf(). */
struct line {
    char text[LINE_SIZE];
    size_t len;
};

static void add_text(struct line *line, const char *text)
{
    while (*text && line->len < sizeof line->text - 1)
        line->text[line->len++] = *text++;
}

/* With zeros in front up to `digits`. */
static void add_number(struct line *line, uint64_t number, int digits)
{
    char text[24];
    char *at = text + sizeof text;

    *--at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
        digits--;
    } while (number > 0 || digits > 0);
    add_text(line, at);
}

/* "12 3.000000004 who op object -> next" */
void pawl__baton_trace_step(struct pawl_baton *baton, const char *who, const char *op,
                            const char *object, const char *next)
{
    struct line line;

    line.len = 0;
    add_number(&line, baton->step_count, 1);
    add_text(&line, " ");
    add_number(&line, (uint64_t)(baton->now_ns / NS_PER_S), 1);
    add_text(&line, ".");
    add_number(&line, (uint64_t)(baton->now_ns % NS_PER_S), 9);
    add_text(&line, " ");
    add_text(&line, who);
    add_text(&line, " ");
    add_text(&line, op);
    add_text(&line, " ");
    add_text(&line, object);
    add_text(&line, " -> ");
    add_text(&line, next);
    line.text[line.len++] = '\n';
    baton->trace_hash = hash_bytes(baton->trace_hash, line.text, line.len);
    if (line.len > baton->options.trace_bytes - baton->trace_len)
        forget_oldest(baton);
    memcpy(baton->trace + baton->trace_len, line.text, line.len);
    baton->trace_len += line.len;
}

static void print_until(struct pawl_buf *out, int64_t wake_ns)
{
    if (wake_ns != PAWL_FOREVER)
        pawl__buf_printf(out, ", until %" PRId64 ".%09" PRId64 " s", wake_ns / NS_PER_S,
                         wake_ns % NS_PER_S);
}

static const char *holder(const struct pawl_mutex *mutex)
{
    return mutex->owner ? mutex->owner->label : "nobody";
}

static void describe_thread(struct pawl_buf *out, const struct pawl_thread *thread)
{
    pawl__buf_text(out, thread->label);
    switch (thread->state) {
    case BATON_READY:
        pawl__buf_text(out, " can run");
        break;
    case BATON_LOCKING:
        pawl__buf_printf(out, " waits for mutex \"%s\", held by %s", thread->mutex->label,
                         holder(thread->mutex));
        break;
    case BATON_WAITING:
        pawl__buf_printf(out, " waits for condition \"%s\"", thread->cond->label);
        print_until(out, thread->wake_ns);
        break;
    case BATON_RELOCKING:
        pawl__buf_printf(out,
                         " was woken from condition \"%s\" and waits for mutex \"%s\", held by %s",
                         thread->cond->label, thread->mutex->label, holder(thread->mutex));
        break;
    case BATON_SLEEPING:
        pawl__buf_text(out, " sleeps");
        print_until(out, thread->wake_ns);
        break;
    case BATON_JOINING:
        pawl__buf_printf(out, " waits for the end of %s", thread->target->label);
        break;
    case BATON_FINISHED:
        pawl__buf_text(out, " has ended");
        break;
    }
    if (thread->state != BATON_FINISHED && thread->env->stopped)
        pawl__buf_text(out, " (environment stopped)");
}

/* The threads, those that have ended left out, each as "<separator>description". */
static void describe_threads(struct pawl_baton *baton, struct pawl_buf *out, const char *separator)
{
    struct pawl_thread *thread;

    PAWL_LIST_FOR_EACH (thread, &baton->threads, link) {
        if (thread->state == BATON_FINISHED)
            continue;
        pawl__buf_text(out, separator);
        describe_thread(out, thread);
    }
}

void pawl__baton_describe(struct pawl_baton *baton, int code, const char *headline)
{
    struct pawl_buf message;

    pawl__buf_printf(&baton->report, "%s (seed %" PRIu64 ", step %" PRIu64 ")", headline,
                     baton->seed, baton->step_count);
    describe_threads(baton, &baton->report, "\n  ");
    pawl__buf_byte(&baton->report, '\n');

    pawl__buf_init(&message, &baton->alloc, baton->report.max);
    describe_threads(baton, &message, "; ");
    (void)pawl__error_set(&baton->failure, code, "%s (seed %" PRIu64 ", step %" PRIu64 ")%s",
                          headline, baton->seed, baton->step_count, pawl__buf_cstr(&message));
    pawl__buf_release(&message);
}

void pawl__baton_bug(struct pawl_baton *baton, const char *format, ...)
{
    struct pawl_buf text;
    va_list args;

    va_start(args, format);
    (void)fputs("pawl: bug: baton: ", stderr);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    pawl__buf_init(&text, &baton->alloc, baton->report.max);
    describe_threads(baton, &text, "\n  ");
    (void)fprintf(stderr, " (seed %" PRIu64 ", step %" PRIu64 ")%s\n", baton->seed,
                  baton->step_count, pawl__buf_cstr(&text));
    abort();
}

struct pawl_str pawl__baton_report(struct pawl_baton *baton)
{
    return pawl__str(pawl__buf_cstr(&baton->report));
}

struct pawl_str pawl__baton_trace(const struct pawl_baton *baton)
{
    return pawl__str_make(baton->trace, baton->trace_len);
}

uint64_t pawl__baton_trace_hash(const struct pawl_baton *baton)
{
    return baton->trace_hash;
}

uint64_t pawl__baton_step_count(const struct pawl_baton *baton)
{
    return baton->step_count;
}
