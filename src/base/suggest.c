/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the known name nearest to an unknown word. */
#include "base/suggest.h"

#include "base/str.h"

/* Longer words are not typing mistakes of our names. */
#define WORD_MAX 32

static size_t min2(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * Letters to insert, drop, replace or swap with a neighbour to make one word of the other, by the
 * usual table: cost[i][j] is that of the first i letters of `a` and the first j of `b`.
 */
static size_t distance(const char *a, const char *b)
{
    size_t cost[WORD_MAX + 1][WORD_MAX + 1];
    size_t a_len = strlen(a), b_len = strlen(b);

    if (a_len > WORD_MAX || b_len > WORD_MAX)
        return SIZE_MAX;
    for (size_t i = 0; i <= a_len; i++) {
        for (size_t j = 0; j <= b_len; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            cost[i][j] = min2(min2(cost[i - 1][j], cost[i][j - 1]) + 1,
                              cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = min2(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a_len][b_len];
}

/* The only candidate that `word` begins; NULL when there are more or none. */
static const char *only_completion(const char *word, const char *const *candidates)
{
    const char *found = NULL;

    for (; *candidates; candidates++) {
        if (!pawl__str_starts(pawl__str(*candidates), pawl__str(word)))
            continue;
        if (found)
            return NULL;
        found = *candidates;
    }
    return found;
}

const char *pawl__suggest(const char *word, const char *const *candidates)
{
    /* Up to a third of the letters may be wrong, rounded down, and at least one in "jsno". */
    size_t best = min2(strlen(word), WORD_MAX) / 3 + 1;
    const char *found = NULL;

    if (strlen(word) < 2)
        return NULL;
    for (const char *const *candidate = candidates; *candidate; candidate++) {
        size_t cost = distance(word, *candidate);

        if (cost < best) {
            best = cost;
            found = *candidate;
        }
    }
    return found ? found : only_completion(word, candidates);
}
