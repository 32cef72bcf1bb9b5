/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the URIs of providers; see locator.h. */
#include "locks/locator.h"

#include "base/error.h"
#include "base/hex.h"

#include <inttypes.h>

/* A copy with %XX decoded. NULL: no memory, or (*bad) not decodable, or a NUL in it. */
static const char *decode(struct pawl_str text, struct pawl_arena *arena, bool *bad)
{
    char *out = pawl__arena_alloc(arena, text.len + 1);
    size_t length = 0;

    for (size_t i = 0; out && i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '%') {
            int high = i + 2 < text.len ? pawl__hex_value(text.ptr[i + 1]) : -1;
            int low = high >= 0 ? pawl__hex_value(text.ptr[i + 2]) : -1;

            if (low < 0) {
                *bad = true;
                return NULL;
            }
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (c == 0) {
            *bad = true;
            return NULL;
        }
        out[length++] = c;
    }
    if (out)
        out[length] = 0;
    return out;
}

struct parsing {
    struct pawl_arena *arena;
    struct pawl_error *err;
};

static int take(struct parsing *p, struct pawl_str text, const char *what, const char **out)
{
    bool bad = false;

    *out = decode(text, p->arena, &bad);
    if (bad)
        return pawl__error_set(p->err, PAWL_EINVAL,
                               "the %s of the lock's URI has a '%%' that two hexadecimal digits do "
                               "not follow, or a NUL; write '%%' as %%25",
                               what);
    return *out ? PAWL_OK : pawl__error_code(p->err, PAWL_ENOMEM);
}

static int take_port(struct parsing *p, struct pawl_str text, uint16_t *out)
{
    uint32_t port = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || port > 65535)
            port = 65536;
        else
            port = port * 10 + (uint32_t)(text.ptr[i] - '0');
    }
    if (text.len == 0 || port == 0 || port > 65535)
        return pawl__error_set(p->err, PAWL_EINVAL,
                               "the port in the lock's URI is not a number from 1 to 65535");
    *out = (uint16_t)port;
    return PAWL_OK;
}

/* host, host:port, [v6], [v6]:port */
static int take_host(struct parsing *p, struct pawl_str text, struct pawl_locator *out)
{
    size_t end = pawl__str_find(text, ':', 0);
    struct pawl_str host = pawl__str_slice(text, 0, end);
    int status;

    if (text.len > 0 && text.ptr[0] == '[') {
        size_t close = pawl__str_find(text, ']', 0);

        if (close == SIZE_MAX)
            return pawl__error_set(p->err, PAWL_EINVAL, "the host in the lock's URI lacks its ']'");
        host = pawl__str_slice(text, 1, close);
        end = close + 1 < text.len ? close + 1 : SIZE_MAX;
        if (end != SIZE_MAX && text.ptr[end] != ':')
            return pawl__error_set(p->err, PAWL_EINVAL,
                                   "in the lock's URI only ':PORT' may follow the ']'");
    }
    status = take(p, host, "host", &out->host);
    if (status == PAWL_OK && end != SIZE_MAX)
        status = take_port(p, pawl__str_slice(text, end + 1, text.len), &out->port);
    return status;
}

/* user:password@host:port */
static int take_authority(struct parsing *p, struct pawl_str text, struct pawl_locator *out)
{
    size_t at = SIZE_MAX;
    int status = PAWL_OK;

    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '@')
            at = i;
    if (at != SIZE_MAX) {
        struct pawl_str who = pawl__str_slice(text, 0, at);
        size_t colon = pawl__str_find(who, ':', 0);

        status = take(p, pawl__str_slice(who, 0, colon), "user", &out->user);
        if (status == PAWL_OK && colon != SIZE_MAX)
            status = take(p, pawl__str_slice(who, colon + 1, who.len), "password", &out->password);
        text = pawl__str_slice(text, at + 1, text.len);
    }
    return status == PAWL_OK ? take_host(p, text, out) : status;
}

static int take_options(struct parsing *p, struct pawl_str text, struct pawl_locator *out)
{
    size_t at = 0;
    int status = PAWL_OK;

    while (at < text.len && status == PAWL_OK) {
        size_t end = pawl__str_find(text, '&', at);
        struct pawl_str part = pawl__str_slice(text, at, end);
        size_t equals = pawl__str_find(part, '=', 0);
        struct pawl_locator_option *option = &out->options[out->option_count];

        at = end == SIZE_MAX ? text.len : end + 1;
        if (part.len == 0)
            continue;
        if (out->option_count == PAWL_LOCATOR_OPTIONS_MAX)
            return pawl__error_set(p->err, PAWL_ELIMIT, "the lock's URI has more than %d options",
                                   PAWL_LOCATOR_OPTIONS_MAX);
        status = take(p, pawl__str_slice(part, 0, equals), "option", &option->name);
        option->value = "";
        if (status == PAWL_OK && equals != SIZE_MAX)
            status = take(p, pawl__str_slice(part, equals + 1, part.len), "option", &option->value);
        out->option_count++;
    }
    return status;
}

int pawl__locator_parse(struct pawl_str uri, struct pawl_arena *arena, struct pawl_locator *out,
                        struct pawl_error *err)
{
    struct parsing p = {arena, err};
    size_t colon = pawl__str_find(uri, ':', 0), question, slash;
    struct pawl_str rest = pawl__str_slice(uri, colon == SIZE_MAX ? 0 : colon + 1, uri.len);
    int status;

    *out = (struct pawl_locator){"", "", "", 0, "", {{NULL, NULL, false}}, 0};
    if (uri.len > PAWL_LOCATOR_BYTES_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "the lock's URI has more than %d bytes",
                               PAWL_LOCATOR_BYTES_MAX);
    if (!pawl__str_starts(rest, pawl__str("//")))
        return pawl__error_set(err, PAWL_EINVAL, "the lock's URI has no '//' with a host");
    rest = pawl__str_slice(rest, 2, rest.len);
    question = pawl__str_find(rest, '?', 0);
    slash = pawl__str_find(pawl__str_slice(rest, 0, question), '/', 0);
    status = take_authority(&p, pawl__str_slice(rest, 0, slash < question ? slash : question), out);
    if (status == PAWL_OK && slash != SIZE_MAX)
        status = take(&p, pawl__str_slice(rest, slash + 1, question), "path", &out->path);
    if (status == PAWL_OK && question != SIZE_MAX)
        status = take_options(&p, pawl__str_slice(rest, question + 1, rest.len), out);
    return status;
}

/* ---- options ----------------------------------------------------------------------------- */

const char *pawl__locator_option(struct pawl_locator *locator, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < locator->option_count; i++)
        if (strcmp(locator->options[i].name, name) == 0) {
            locator->options[i].used = true;
            value = locator->options[i].value;
        }
    return value;
}

int pawl__locator_number(struct pawl_locator *locator, const char *name, int64_t least,
                         int64_t most, int64_t usual, int64_t *out, struct pawl_error *err)
{
    const char *text = pawl__locator_option(locator, name);
    int64_t value = 0;

    if (!text) {
        *out = usual;
        return PAWL_OK;
    }
    for (const char *c = text; *c; c++)
        value =
            *c >= '0' && *c <= '9' && value >= 0 && value <= most ? value * 10 + (*c - '0') : -1;
    if (!*text || value < least || value > most)
        return pawl__error_set(err, PAWL_EINVAL,
                               "%s=%.40s in the lock's URI is not a number from %" PRId64
                               " to %" PRId64,
                               name, text, least, most);
    *out = value;
    return PAWL_OK;
}

int pawl__locator_switch(struct pawl_locator *locator, const char *name, bool usual, bool *out,
                         struct pawl_error *err)
{
    static const char *const words[] = {"off", "on", "0", "1", "no", "yes", "false", "true"};
    const char *text = pawl__locator_option(locator, name);

    *out = usual;
    if (!text)
        return PAWL_OK;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = i % 2 == 1;
            return PAWL_OK;
        }
    return pawl__error_set(err, PAWL_EINVAL, "%s=%.40s in the lock's URI is neither on nor off",
                           name, text);
}

int pawl__locator_finish(const struct pawl_locator *locator, const char *known,
                         struct pawl_error *err)
{
    for (size_t i = 0; i < locator->option_count; i++)
        if (!locator->options[i].used)
            return pawl__error_set(err, PAWL_EINVAL,
                                   "the lock's URI has an unknown option '%.40s'; options are: "
                                   "%s",
                                   locator->options[i].name, known);
    return PAWL_OK;
}
