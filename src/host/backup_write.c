/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding: from a snapshot's rows to the bytes of a backup; see backup.h. */
#include "host/backup.h"

#include "base/buf.h"
#include "base/error.h"
#include "drivers/zstd.h"

struct encoder {
    const struct pawl_backup_options *options;
    const struct pawl_backup_sink *sink;
    struct pawl_zstd *zstd;
    struct pawl_sha256 sha;
    struct pawl_buf records; /* of the block that is being filled */
    struct pawl_buf stored;
    struct pawl_backup_counts counts;
};

static int put(struct encoder *e, struct pawl_str bytes, struct pawl_error *err)
{
    pawl__sha256_update(&e->sha, bytes.ptr, bytes.len);
    e->counts.size_bytes += bytes.len;
    return e->sink->write(e->sink->ctx, bytes, err);
}

static void little_endian(uint64_t value, char *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (char)(unsigned char)(value >> (8 * i));
}

/* ---- records ----------------------------------------------------------------------------- */

static void add_number(struct pawl_buf *out, uint64_t value)
{
    for (; value > 0x7F; value >>= 7)
        pawl__buf_byte(out, (char)(unsigned char)(0x80 | (value & 0x7F)));
    pawl__buf_byte(out, (char)value);
}

static void add_integer(struct pawl_buf *out, int64_t value)
{
    /* Zigzag: small negative numbers are short too. */
    add_number(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void add_bytes(struct pawl_buf *out, struct pawl_str bytes)
{
    add_number(out, bytes.len);
    pawl__buf_str(out, bytes);
}

static char type_letter(enum pawl_column_type type)
{
    switch (type) {
    case PAWL_COLUMN_TEXT:
        return 't';
    case PAWL_COLUMN_BYTES:
        return 'b';
    case PAWL_COLUMN_INT:
        return 'i';
    }
    return '?';
}

static void add_table(struct pawl_buf *out, enum pawl_table table)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    pawl__buf_byte(out, 'T');
    add_number(out, (uint64_t)table);
    add_bytes(out, pawl__str(info->name));
    add_number(out, info->column_count);
    for (uint32_t i = 0; i < info->column_count; i++) {
        add_bytes(out, pawl__str(info->columns[i].name));
        pawl__buf_byte(out, type_letter(info->columns[i].type));
    }
}

static void add_row(struct pawl_buf *out, enum pawl_table table, const void *row)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    pawl__buf_byte(out, 'R');
    add_number(out, (uint64_t)table);
    for (uint32_t i = 0; i < info->column_count; i++) {
        const char *at = (const char *)row + info->columns[i].offset;

        if (info->columns[i].type == PAWL_COLUMN_INT) {
            int64_t value;

            memcpy(&value, at, sizeof value);
            add_integer(out, value);
        } else {
            struct pawl_str value;

            memcpy(&value, at, sizeof value);
            add_bytes(out, value);
        }
    }
}

/* ---- blocks ------------------------------------------------------------------------------ */

static int failed(struct encoder *e, const struct pawl_buf *buf, struct pawl_error *err)
{
    (void)e;
    if (buf->status == PAWL_ELIMIT)
        return pawl__error_set(err, PAWL_ELIMIT,
                               "a row is larger than the %zu MB of a backup's block",
                               PAWL_BACKUP_BLOCK_MAX >> 20);
    return pawl__error_code(err, buf->status);
}

static int flush(struct encoder *e, struct pawl_error *err)
{
    struct pawl_str bytes = pawl__buf_peek(&e->records);
    char head[8];
    int status;

    if (e->records.status != PAWL_OK)
        return failed(e, &e->records, err);
    if (bytes.len == 0)
        return PAWL_OK;
    little_endian(bytes.len, head + 4, 4);
    if (!e->options->plain) {
        pawl__buf_clear(&e->stored);
        status = pawl__zstd_compress(e->zstd, bytes, PAWL_ZSTD_LEVEL_DEFAULT, &e->stored, err);
        if (status != PAWL_OK)
            return status;
        bytes = pawl__buf_peek(&e->stored);
    }
    little_endian(bytes.len, head, 4);
    status = put(e, pawl__str_make(head, sizeof head), err);
    if (status == PAWL_OK)
        status = put(e, bytes, err);
    pawl__buf_clear(&e->records);
    if (status == PAWL_OK && e->options->progress)
        e->options->progress(e->options->progress_ctx, &e->counts);
    return status;
}

static int visit(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    struct encoder *e = ctx;
    size_t before = e->records.len;

    add_row(&e->records, table, row);
    if (e->records.status == PAWL_ELIMIT && before > 0) {
        /* Too much together with its neighbours: alone it may fit. */
        int status;

        e->records.len = before;
        e->records.status = PAWL_OK;
        status = flush(e, err);
        if (status != PAWL_OK)
            return status;
        add_row(&e->records, table, row);
    }
    if (e->records.status != PAWL_OK)
        return failed(e, &e->records, err);
    e->counts.rows[table]++;
    e->counts.row_count++;
    return e->records.len >= PAWL_BACKUP_BLOCK_BYTES ? flush(e, err) : PAWL_OK;
}

/* ---- the whole --------------------------------------------------------------------------- */

static int begin(struct encoder *e, int64_t schema, struct pawl_error *err)
{
    struct pawl_buf line;
    int status;

    pawl__buf_init(&line, e->records.alloc, 256);
    pawl__buf_printf(&line, PAWL_BACKUP_MAGIC "%d schema %jd %s\n", PAWL_BACKUP_FORMAT,
                     (intmax_t)schema, e->options->plain ? "plain" : "zstd");
    status = line.status == PAWL_OK ? put(e, pawl__buf_peek(&line), err)
                                    : pawl__error_code(err, line.status);
    pawl__buf_release(&line);
    for (unsigned table = 0; table < PAWL_TABLE_COUNT; table++)
        add_table(&e->records, (enum pawl_table)table);
    return status;
}

static int end(struct encoder *e, struct pawl_error *err)
{
    char tail[12];
    int status = flush(e, err);

    if (status != PAWL_OK)
        return status;
    little_endian(0, tail, 4);
    little_endian(e->counts.row_count, tail + 4, 8);
    status = put(e, pawl__str_make(tail, sizeof tail), err);
    if (status != PAWL_OK)
        return status;
    pawl__sha256_final(&e->sha, e->counts.digest);
    e->counts.size_bytes += PAWL_SHA256_BYTES;
    return e->sink->write(e->sink->ctx,
                          pawl__str_make((const char *)e->counts.digest, PAWL_SHA256_BYTES), err);
}

int pawl__backup_encode(const struct pawl_allocator *alloc, struct pawl_store *store,
                        const struct pawl_backup_options *options,
                        const struct pawl_backup_sink *sink, struct pawl_backup_counts *counts,
                        int64_t deadline_ns, struct pawl_error *err)
{
    static const struct pawl_backup_options usual = {.plain = false};
    struct encoder e = {.options = options ? options : &usual, .sink = sink};
    struct pawl_store_status about;
    int status;

    pawl__sha256_init(&e.sha);
    pawl__buf_init(&e.records, alloc, PAWL_BACKUP_BLOCK_MAX);
    pawl__buf_init(&e.stored, alloc, PAWL_BACKUP_BLOCK_MAX + (PAWL_BACKUP_BLOCK_MAX >> 6));
    status = pawl__zstd_new(alloc, &e.zstd, err);
    if (status == PAWL_OK)
        status = pawl_store_status(store, &about, deadline_ns, err);
    if (status != PAWL_OK)
        goto out;
    e.counts.schema = about.schema;
    status = begin(&e, about.schema, err);
    if (status == PAWL_OK)
        status = pawl_store_snapshot(store, visit, &e, deadline_ns, err);
    if (status == PAWL_OK)
        status = end(&e, err);
    if (status == PAWL_OK)
        *counts = e.counts;
out:
    pawl__zstd_free(e.zstd);
    pawl__buf_release(&e.records);
    pawl__buf_release(&e.stored);
    return status;
}
