/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that a store keeps: JSON as text or in brief form, packed when it is long, and back. */
#include "runtime/bytes.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash/checksum.h"
#include "engine/state/page.h"
#include "runtime/pack.h"
#include "runtime/runtime_private.h"
#include "runtime/task.h"

/* Documents that a store kept nest no deeper than values do. */
static const struct pawl_json_limits stored_limits = {RUNTIME_BYTES_MAX, PAWL_JSON_DEPTH_MAX};

/* zstd's working memory takes long to set up: it waits here for the next who needs it. */
struct runtime_packer {
    struct pawl_list_link link;
    struct pawl_packer packer;
};

/* Most texts fit: larger ones grow. Likewise what is in brief form. */
#define TEXT_BYTES_USUAL ((size_t)4000)
#define BRIEF_BYTES_USUAL ((size_t)1000)

struct pawl_str pawl__runtime_json_text(struct pawl_arena *arena, const struct pawl_json *value)
{
    struct pawl_str text = {NULL, 0};
    struct pawl_buf buf;

    pawl__buf_init(&buf, arena->alloc, RUNTIME_BYTES_MAX);
    (void)pawl__buf_reserve(&buf, TEXT_BYTES_USUAL);
    pawl__json_write(&buf, value, PAWL_JSON_ESCAPE_MINIMAL);
    if (buf.status == PAWL_OK)
        text = pawl__arena_str(arena, pawl__buf_peek(&buf));
    else if (arena->status == PAWL_OK)
        arena->status = buf.status;
    pawl__buf_release(&buf);
    return text;
}

/* ---- how much ------------------------------------------------------------------------------ */

/* At least so many bytes of text; stops counting past the limit. */
static size_t count_bytes(const struct pawl_json *value)
{
    size_t bytes = 1 + pawl__json_str(value).len;

    for (uint32_t i = 0; i < pawl__json_len(value) && bytes <= PAWL_INPUT_BYTES_MAX; i++) {
        if (pawl__json_is(value, PAWL_JSON_OBJECT))
            bytes += pawl__json_member(value, i)->key.len + 3;
        bytes += count_bytes(pawl__json_at(value, i)) + 1;
    }
    return bytes;
}

int pawl__runtime_check_bytes(struct runtime_task *task, const char *what, size_t bytes)
{
    if (bytes <= PAWL_INPUT_BYTES_MAX)
        return PAWL_OK;
    return pawl__error_set(
        task->err, PAWL_ELIMIT,
        "%s with more than %zu bytes cannot be accepted, that is the limit: send "
        "where the data is instead",
        what, PAWL_INPUT_BYTES_MAX);
}

int pawl__runtime_check_key(struct runtime_task *task, struct pawl_str key)
{
    if (key.len <= PAWL_IDEMPOTENCY_KEY_MAX)
        return PAWL_OK;
    return pawl__error_set(task->err, PAWL_EINVAL,
                           "an idempotency key has at most %u bytes, not %zu",
                           PAWL_IDEMPOTENCY_KEY_MAX, key.len);
}

int pawl__runtime_check_input(struct runtime_task *task, const char *what,
                              const struct pawl_json *input)
{
    return pawl__runtime_check_bytes(task, what, count_bytes(input));
}

/* ---- packing ------------------------------------------------------------------------------- */

static struct runtime_packer *take_packer(struct pawl_runtime *runtime)
{
    struct runtime_packer *packer = NULL;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) == PAWL_OK) {
        packer =
            PAWL_CONTAINER(pawl__list_pop_front(&runtime->packers), struct runtime_packer, link);
        pawl_mutex_unlock(runtime->env, runtime->mutex);
    }
    if (packer)
        return packer;
    packer = pawl__alloc_zeroed(&runtime->env->alloc, sizeof *packer);
    if (packer)
        pawl__packer_init(&packer->packer, &runtime->env->alloc);
    return packer;
}

static void free_packer(struct pawl_runtime *runtime, struct runtime_packer *packer)
{
    pawl__packer_release(&packer->packer);
    pawl__free(&runtime->env->alloc, packer, sizeof *packer);
}

static void return_packer(struct pawl_runtime *runtime, struct runtime_packer *packer)
{
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK) {
        free_packer(runtime, packer);
        return;
    }
    pawl__list_push_front(&runtime->packers, &packer->link);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

void pawl__runtime_forget_packers(struct pawl_runtime *runtime)
{
    struct pawl_list_link *link;

    while ((link = pawl__list_pop_front(&runtime->packers)) != NULL)
        free_packer(runtime, PAWL_CONTAINER(link, struct runtime_packer, link));
}

int pawl__runtime_pack(struct pawl_runtime *runtime, struct pawl_arena *arena, struct pawl_str text,
                       struct pawl_str *out, struct pawl_error *err)
{
    struct runtime_packer *packer;
    struct pawl_str packed;
    int status;

    if (pawl__pack_is_plain(text)) {
        *out = text;
        return PAWL_OK;
    }
    packer = take_packer(runtime);
    if (!packer)
        return pawl__error_code(err, PAWL_ENOMEM);
    status = pawl__pack(&packer->packer, text, &packed, err);
    if (status == PAWL_OK) {
        packed = pawl__arena_str(arena, packed);
        if (packed.ptr)
            *out = packed;
        else
            status = pawl__error_code(err, pawl__arena_status(arena));
    }
    return_packer(runtime, packer);
    return status;
}

int pawl__runtime_pack_buf(struct pawl_runtime *runtime, struct pawl_arena *arena,
                           const struct pawl_buf *brief, struct pawl_str *out,
                           struct pawl_error *err)
{
    int status = brief->status == PAWL_OK
                     ? pawl__runtime_pack(runtime, arena, pawl__buf_peek(brief), out, err)
                     : pawl__error_code(err, brief->status);

    if (status == PAWL_OK && out->ptr == brief->ptr) {
        *out = pawl__arena_str(arena, *out);
        if (!out->ptr)
            status = pawl__error_code(err, pawl__arena_status(arena));
    }
    return status;
}

int pawl__runtime_pack_value(struct pawl_runtime *runtime, struct pawl_arena *arena,
                             const struct pawl_json *value, struct pawl_str *out,
                             struct pawl_error *err)
{
    struct pawl_buf buf;
    int status;

    pawl__buf_init(&buf, arena->alloc, RUNTIME_BYTES_MAX);
    (void)pawl__buf_reserve(&buf, BRIEF_BYTES_USUAL);
    pawl__brief_write(&buf, value, &runtime->words);
    status = pawl__runtime_pack_buf(runtime, arena, &buf, out, err);
    pawl__buf_release(&buf);
    return status;
}

/* Of bytes that are not packed, or no longer. */
static int read_plain(const struct pawl_words *words, struct pawl_arena *arena,
                      struct pawl_str bytes, struct pawl_json *out, struct pawl_error *err)
{
    int status;

    if (!pawl__is_brief(bytes))
        return pawl__json_parse(arena, bytes, &stored_limits, out, NULL, err);
    status = pawl__brief_read(arena, bytes, words, out);
    return status == PAWL_OK ? PAWL_OK
                             : pawl__error_set(err, status, "%zu bytes in brief form: %s",
                                               bytes.len, pawl_error_text(status));
}

int pawl__stored_json(struct pawl_packer *packer, const struct pawl_words *words,
                      struct pawl_arena *arena, struct pawl_str bytes, struct pawl_json *out,
                      struct pawl_error *err)
{
    struct pawl_str plain;
    int status = pawl__unpack(packer, bytes, PAWL_PACK_BYTES_MAX, &plain, err);

    return status == PAWL_OK ? read_plain(words, arena, plain, out, err) : status;
}

int pawl__runtime_json_read(struct pawl_runtime *runtime, struct pawl_arena *arena,
                            struct pawl_str bytes, struct pawl_json *out, struct pawl_error *err)
{
    struct runtime_packer *packer;
    int status;

    if (bytes.len == 0) {
        *out = pawl__json_null();
        return PAWL_OK;
    }
    if (pawl__pack_is_plain(bytes)) {
        status = read_plain(&runtime->words, arena, bytes, out, err);
    } else {
        packer = take_packer(runtime);
        if (!packer)
            return pawl__error_code(err, PAWL_ENOMEM);
        status = pawl__stored_json(&packer->packer, &runtime->words, arena, bytes, out, err);
        return_packer(runtime, packer);
    }
    if (status != PAWL_EPARSE)
        return status;
    if (err)
        err->code = PAWL_ECORRUPT; /* what was stored could be parsed */
    return pawl__error_prefix(err, PAWL_ECORRUPT, "stored JSON");
}

/* ---- states -------------------------------------------------------------------------------- */

int64_t pawl__runtime_state_sum(struct pawl_str bytes)
{
    uint64_t sum = pawl__checksum(bytes);
    int64_t out;

    memcpy(&out, &sum, sizeof out);
    return out != 0 ? out : 1; /* 0 is: not known */
}

bool pawl__runtime_is_state_sound(const struct pawl_instance_row *row)
{
    return row->state_sum == 0 || row->state_sum == pawl__runtime_state_sum(row->state);
}

int pawl__runtime_state_read(struct pawl_runtime *runtime, struct pawl_arena *arena,
                             const struct pawl_instance_row *row, struct pawl_json *out,
                             struct pawl_error *err)
{
    if (!pawl__runtime_is_state_sound(row))
        return pawl__error_set(err, PAWL_ECORRUPT,
                               "its state is damaged: what is stored is not what was written");
    return pawl__runtime_json_read(runtime, arena, row->state, out, err);
}

/* ---- counts -------------------------------------------------------------------------------- */

/* Node ids, each with the events of its activity and how often they were. */
static bool are_counts(const struct pawl_json *value)
{
    if (!pawl__json_is(value, PAWL_JSON_OBJECT))
        return false;
    for (uint32_t i = 0; i < pawl__json_len(value); i++) {
        const struct pawl_json *events = pawl__json_at(value, i);

        if (!pawl__json_is(events, PAWL_JSON_OBJECT))
            return false;
        for (uint32_t j = 0; j < pawl__json_len(events); j++) {
            int64_t count;

            if (!pawl__json_to_int(pawl__json_at(events, j), &count) || count < 0 ||
                count == INT64_MAX)
                return false;
        }
    }
    return true;
}

int pawl__runtime_counts_read(struct pawl_runtime *runtime, struct pawl_arena *arena,
                              const struct pawl_instance_row *row, struct pawl_json *out,
                              struct pawl_error *err)
{
    int status = pawl__runtime_json_read(runtime, arena, row->counts, out, err);

    if (status != PAWL_OK || row->counts.len == 0)
        return status;
    return are_counts(out) ? PAWL_OK
                           : pawl__error_set(err, PAWL_ECORRUPT, "stored counts are none");
}

int pawl__runtime_check_counts(const struct pawl_allocator *alloc,
                               const struct pawl_instance_row *row)
{
    struct pawl_packer packer;
    struct pawl_words words;
    struct pawl_arena arena;
    struct pawl_json counts;
    int status;

    if (row->counts.len == 0)
        return PAWL_OK;
    pawl__stored_words(&words);
    pawl__packer_init(&packer, alloc);
    pawl__arena_init(&arena, alloc, RUNTIME_BYTES_MAX);
    status = pawl__stored_json(&packer, &words, &arena, row->counts, &counts, NULL);
    if (status == PAWL_OK && !are_counts(&counts))
        status = PAWL_ECORRUPT;
    pawl__arena_release(&arena);
    pawl__packer_release(&packer);
    return status == PAWL_OK || status == PAWL_ENOMEM ? status : PAWL_ECORRUPT;
}

/* ---- pages of the journal -------------------------------------------------------------------- */

int pawl__runtime_check_page(const struct pawl_allocator *alloc, const struct pawl_journal_row *row)
{
    struct pawl_json page, log, records;
    struct pawl_packer packer;
    struct pawl_words words;
    struct pawl_arena arena;
    int status;

    pawl__stored_words(&words);
    pawl__packer_init(&packer, alloc);
    pawl__arena_init(&arena, alloc, RUNTIME_BYTES_MAX);
    status = pawl__stored_json(&packer, &words, &arena, row->data, &page, NULL);
    if (status == PAWL_OK)
        status = pawl__page_read(&arena, &page, &log, &records);
    if (status == PAWL_OK && (int64_t)pawl__json_len(&log) != row->count)
        status = PAWL_ECORRUPT;
    pawl__arena_release(&arena);
    pawl__packer_release(&packer);
    if (status == PAWL_EUNSUPPORTED)
        return PAWL_OK;
    return status == PAWL_OK || status == PAWL_ENOMEM ? status : PAWL_ECORRUPT;
}
