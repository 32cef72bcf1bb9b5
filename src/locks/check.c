/* SPDX-License-Identifier: Apache-2.0 */
/* The frame around the cases: two nodes, a name, a result. See check.h. */
#include "base/assert.h"
#include "base/error.h"
#include "locks/check_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool pawl__lock_check_fail(struct pawl_lock_check_case *c, const char *format, ...)
{
    va_list args;

    if (c->result->outcome == PAWL_LOCK_CHECK_FAILED)
        return false;
    c->result->outcome = PAWL_LOCK_CHECK_FAILED;
    va_start(args, format);
    (void)vsnprintf(c->result->detail, sizeof c->result->detail, format, args);
    va_end(args);
    return false;
}

bool pawl__lock_check_is(struct pawl_lock_check_case *c, const char *what, int status, int expected)
{
    if (status == expected)
        return true;
    return pawl__lock_check_fail(c, "%s: %s%s%s instead of %s", what,
                                 status == PAWL_OK ? "PAWL_OK" : pawl_error_name(status),
                                 status == PAWL_OK || !c->err.msg[0] ? "" : ": ",
                                 status == PAWL_OK ? "" : c->err.msg,
                                 expected == PAWL_OK ? "PAWL_OK" : pawl_error_name(expected));
}

void pawl__lock_check_say(struct pawl_lock_check_case *c, const char *format, ...)
{
    va_list args;

    if (c->result->outcome != PAWL_LOCK_CHECK_OK)
        return;
    va_start(args, format);
    (void)vsnprintf(c->result->detail, sizeof c->result->detail, format, args);
    va_end(args);
}

void pawl__lock_check_skip(struct pawl_lock_check_case *c, const char *why)
{
    c->result->outcome = PAWL_LOCK_CHECK_SKIPPED;
    (void)snprintf(c->result->detail, sizeof c->result->detail, "%s", why);
}

struct pawl_str pawl__lock_check_name(struct pawl_lock_check_case *c, const char *suffix,
                                      char out[64])
{
    (void)snprintf(out, 64, "%s%s", c->word, suffix);
    return pawl__str(out);
}

void pawl__lock_check_grant(struct pawl_lock_check_case *c, struct pawl_str name, uint32_t flags,
                            struct pawl_lock_grant *out)
{
    uint64_t chance[2] = {1, 1};

    *out = (struct pawl_lock_grant){.name = name, .flags = flags};
    (void)!pawl_env_entropy(c->env, chance, sizeof chance, NULL);
    (void)snprintf(out->owner, sizeof out->owner, "check_0_%016" PRIx64 "%016" PRIx64, chance[0],
                   chance[1]);
}

int64_t pawl__lock_check_soon(struct pawl_lock_check_case *c)
{
    return pawl_env_monotonic_ns(c->env) + INT64_C(10000000000);
}

/* ---- running ----------------------------------------------------------------------------- */

static const struct pawl_lock_check_row *row_of(size_t number)
{
    const struct pawl_lock_check_row *rows = pawl__lock_check_basics;

    for (; rows->title; rows++)
        if (number-- == 0)
            return rows;
    for (rows = pawl__lock_check_times; rows->title; rows++)
        if (number-- == 0)
            return rows;
    return NULL;
}

size_t pawl__lock_check_count(void)
{
    size_t count = 0;

    while (row_of(count))
        count++;
    return count;
}

const char *pawl__lock_check_title(size_t number)
{
    const struct pawl_lock_check_row *row = row_of(number);

    PAWL_ASSERT(row);
    return row->title;
}

static int open_node(struct pawl_lock_check_case *c, struct pawl_locks **out)
{
    struct pawl_lock_provider *provider;
    int status = c->check->open(c->check->ctx, &provider, &c->err);

    if (status != PAWL_OK)
        return status;
    status = pawl__locks_new(c->env, provider, NULL, out, &c->err);
    if (status != PAWL_OK)
        provider->ops->close(provider);
    return status;
}

static int open_case(struct pawl_lock_check_case *c)
{
    struct pawl_lock_provider *provider;
    uint64_t chance;
    int status = pawl_env_entropy(c->env, &chance, sizeof chance, &c->err);

    if (status == PAWL_OK)
        status = open_node(c, &c->a);
    if (status == PAWL_OK)
        status = open_node(c, &c->b);
    if (status != PAWL_OK)
        return status;
    (void)snprintf(c->word, sizeof c->word, "pawl-check-%08" PRIx32, (uint32_t)chance);
    (void)pawl__lock_check_name(c, "", c->name);
    provider = pawl__locks_provider(c->a);
    c->caps = pawl_lock_caps(provider);
    return provider->ops->status(provider, &c->status, pawl__lock_check_soon(c), &c->err);
}

void pawl__lock_check_run(const struct pawl_lock_check *check, size_t number,
                          struct pawl_lock_check_result *out)
{
    const struct pawl_lock_check_row *row = row_of(number);
    struct pawl_lock_check_case c = {.check = check, .env = check->env, .result = out};
    int status;

    PAWL_ASSERT(row);
    *out = (struct pawl_lock_check_result){.outcome = PAWL_LOCK_CHECK_OK};
    status = open_case(&c);
    if (status != PAWL_OK)
        (void)pawl__lock_check_is(&c, "opening the service", status, PAWL_OK);
    else if ((c.caps & row->needs) != row->needs)
        pawl__lock_check_skip(&c, "not supported by this kind of service");
    else
        row->run(&c);
    pawl__locks_free(c.a);
    pawl__locks_free(c.b);
}
