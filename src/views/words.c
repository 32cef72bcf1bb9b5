/* SPDX-License-Identifier: Apache-2.0 */
/* Words for people; see words.h. */
#include "views/words.h"

#include "base/str.h"
#include "base/time/datetime.h"
#include "base/time/duration.h"

#include <pawl/ext/store.h>

#include <stdio.h>

const char *pawl__words_span(int64_t us, char out[PAWL_WORDS_SIZE])
{
    char text[PAWL_DURATION_TEXT_SIZE];

    us = us < 0 ? -us : us;
    /* To the second, from a second on. */
    if (us >= 1000000)
        us -= us % 1000000;
    else
        us -= us % 1000;
    (void)pawl__duration_format_human(us * PAWL_TICKS_PER_US, text);
    (void)snprintf(out, PAWL_WORDS_SIZE, "%s", text);
    return out;
}

static bool is_plain(struct pawl_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!letter && (c == '\0' || !strchr("-_./:@%+,", c)))
            return false;
    }
    return word.len > 0 && word.ptr[0] != '-';
}

const char *pawl__words_quote(struct pawl_arena *arena, struct pawl_str word)
{
    size_t len = 0;
    char *out;

    if (is_plain(word))
        return pawl__arena_str(arena, word).ptr;
    out = pawl__arena_alloc(arena, word.len * 4 + 3); /* each ' becomes '\'' */
    if (!out)
        return NULL;
    out[len++] = '\'';
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\'') {
            memcpy(out + len, "'\\''", 4);
            len += 4;
        } else {
            out[len++] = word.ptr[i];
        }
    }
    out[len++] = '\'';
    out[len] = '\0';
    return out;
}

const char *pawl__words_time(int64_t us, char out[PAWL_WORDS_SIZE])
{
    struct pawl_civil civil;

    if (us == 0 || us == PAWL_TIME_NEVER)
        return "-";
    pawl__datetime_civil(pawl__datetime_from_unix_ns(us * 1000), &civil);
    (void)snprintf(out, PAWL_WORDS_SIZE, "%04d-%02d-%02d %02d:%02d:%02d", (int)civil.year,
                   civil.month, civil.day, civil.hour, civil.minute, civil.second);
    return out;
}
