/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging objects; see json.h. Objects with many keys come from scripts and senders: looking each
 * key up one by one would take minutes for what fits into one input. So keys are sorted, and equal
 * ones stand beside each other.
 */
#include "base/alloc.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

/* Up to so many comparisons, looking keys up is faster. */
#define LOOKUPS_MAX 4096u
#define NOTHING UINT32_MAX

/* A member of either object. */
struct entry {
    struct pawl_str key;
    uint32_t at; /* in its object */
    bool is_own; /* of the one that is merged into */
};

struct merging {
    struct pawl_json *to;
    const struct pawl_json *from;
    enum pawl_json_merge how;
    struct entry *entries;
    size_t count;
    uint32_t *added; /* by members of `from`: whose value it gets as a new member, or NOTHING */
};

/* ---- the order of keys ------------------------------------------------------------------- */

static unsigned char fold(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static int compare_folded(struct pawl_str a, struct pawl_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;

    for (size_t i = 0; i < len; i++) {
        if (fold(a.ptr[i]) != fold(b.ptr[i]))
            return fold(a.ptr[i]) < fold(b.ptr[i]) ? -1 : 1;
    }
    return (a.len > b.len) - (a.len < b.len);
}

static int compare_bytes(struct pawl_str a, struct pawl_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.ptr, b.ptr, len) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* What is there comes first, then what is merged into it, each in its order. */
static int compare_places(const struct entry *a, const struct entry *b)
{
    if (a->is_own != b->is_own)
        return a->is_own ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int compare_exact(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    int order = compare_bytes(left->key, right->key);

    return order != 0 ? order : compare_places(left, right);
}

static int compare_nocase(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    int order = compare_folded(left->key, right->key);

    return order != 0 ? order : compare_places(left, right);
}

static bool is_same_key(const struct merging *m, const struct entry *a, const struct entry *b)
{
    return m->how == PAWL_JSON_MERGE_OVER ? compare_bytes(a->key, b->key) == 0
                                          : compare_folded(a->key, b->key) == 0;
}

/* ---- merging ----------------------------------------------------------------------------- */

static size_t list_members(struct entry *entries, const struct pawl_json *object, bool is_own)
{
    for (uint32_t i = 0; i < object->len; i++)
        entries[i] = (struct entry){object->u.members[i].key, i, is_own};
    return object->len;
}

/* Entries of one key, in the order of their places. */
static void merge_key(struct merging *m, const struct entry *entries, size_t count)
{
    size_t own = 0;
    uint32_t last;

    while (own < count && entries[own].is_own)
        own++;
    if (own == count)
        return;
    last = entries[m->how == PAWL_JSON_MERGE_OVER ? count - 1 : own].at;
    if (own == 0)
        m->added[entries[0].at] = last;
    else if (m->how == PAWL_JSON_MERGE_OVER)
        m->to->u.members[entries[own - 1].at].value = m->from->u.members[last].value;
}

static int merge_sorted(struct merging *m, struct pawl_arena *arena)
{
    int status = PAWL_OK;

    m->count = list_members(m->entries, m->to, true);
    m->count += list_members(m->entries + m->count, m->from, false);
    for (uint32_t i = 0; i < m->from->len; i++)
        m->added[i] = NOTHING;
    qsort(m->entries, m->count, sizeof *m->entries,
          m->how == PAWL_JSON_MERGE_OVER ? compare_exact : compare_nocase);
    for (size_t begin = 0, end; begin < m->count; begin = end) {
        for (end = begin + 1; end < m->count; end++) {
            if (!is_same_key(m, &m->entries[begin], &m->entries[end]))
                break;
        }
        merge_key(m, m->entries + begin, end - begin);
    }
    for (uint32_t i = 0; i < m->from->len && status == PAWL_OK; i++) {
        if (m->added[i] != NOTHING)
            status = pawl__json_add(arena, m->to, m->from->u.members[i].key,
                                    m->from->u.members[m->added[i]].value);
    }
    return status;
}

static int merge_few(struct merging *m, struct pawl_arena *arena)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < m->from->len && status == PAWL_OK; i++) {
        const struct pawl_json_member *member = &m->from->u.members[i];
        struct pawl_json *old = m->how == PAWL_JSON_MERGE_OVER
                                    ? pawl__json_get(m->to, member->key)
                                    : pawl__json_get_nocase(m->to, member->key);

        if (!old)
            status = pawl__json_add(arena, m->to, member->key, member->value);
        else if (m->how == PAWL_JSON_MERGE_OVER)
            *old = member->value;
    }
    return status;
}

int pawl__json_merge(struct pawl_arena *arena, struct pawl_json *to, const struct pawl_json *from,
                     enum pawl_json_merge how)
{
    struct merging m = {.to = to, .from = from, .how = how};
    const struct pawl_allocator *alloc = arena->alloc;
    size_t entries_bytes, added_bytes;
    int status = PAWL_ENOMEM;

    PAWL_ASSERT(to->type == PAWL_JSON_OBJECT);
    if (!pawl__json_is(from, PAWL_JSON_OBJECT) || from->len == 0)
        return PAWL_OK;
    if (((uint64_t)to->len + from->len) * from->len <= LOOKUPS_MAX)
        return merge_few(&m, arena);
    entries_bytes = ((size_t)to->len + from->len) * sizeof *m.entries;
    added_bytes = from->len * sizeof *m.added;
    m.entries = pawl__alloc_zeroed(alloc, entries_bytes);
    m.added = pawl__alloc_zeroed(alloc, added_bytes);
    if (m.entries && m.added)
        status = merge_sorted(&m, arena);
    pawl__free(alloc, m.entries, entries_bytes);
    pawl__free(alloc, m.added, added_bytes);
    return status;
}
