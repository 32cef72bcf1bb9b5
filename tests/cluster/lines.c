/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the scenario, counted; see lines.h. */
#include "cluster/lines.h"

#include "cluster/scenario.h"
#include "lib/test.h"

#include <string.h>

/* What an undisturbed run with a server writes, and how often. */
static const struct {
    const char *text;
    unsigned count;
} all[LINES_TEXTS] = {
    {"branch", 2}, {"branch ends", 2}, {"caller", 1},    {"fired", 1}, {"listener", 1},
    {"slow", 2},   {"main begins", 1}, {"main ends", 1}, {"quick", 1},
};

void lines_add(struct lines *lines, struct pawl_str text)
{
    size_t i = 0;

    while (i < LINES_TEXTS && !pawl__str_is(text, all[i].text))
        i++;
    if (i == LINES_TEXTS)
        fail_msg("nobody should have written \"%.*s\"", PAWL_STR_ARG(text));
    else
        lines->counts[i]++;
}

void lines_read(struct lines *lines, const char *output)
{
    static const char word[] = "line ";

    for (const char *at = output; (at = strstr(at, word)) != NULL;) {
        size_t len;

        if (at > output && at[-1] != '\n') {
            at++;
            continue;
        }
        at += sizeof word - 1;
        len = strcspn(at, "\n");
        lines_add(lines, pawl__str_make(at, len));
        at += len;
    }
}

unsigned lines_total(const struct lines *lines)
{
    unsigned total = 0;

    for (size_t i = 0; i < LINES_TEXTS; i++)
        total += lines->counts[i];
    return total;
}

unsigned lines_check(const struct lines *before, const struct lines *after, unsigned most,
                     const char *what)
{
    unsigned repeated = 0;

    for (size_t i = 0; i < LINES_TEXTS; i++) {
        unsigned count = before->counts[i] + after->counts[i];

        if (count < all[i].count)
            fail_msg("%s: \"%s\" was written %u times, not %u", what, all[i].text, count,
                     all[i].count);
        if (count - all[i].count > before->counts[i])
            fail_msg("%s: \"%s\" was written %u times, %u of them before", what, all[i].text, count,
                     before->counts[i]);
        repeated += count - all[i].count;
    }
    if (repeated > most)
        fail_msg("%s: %u lines were written again; %u may be", what, repeated, most);
    return repeated;
}
