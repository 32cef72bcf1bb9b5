/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding: from the bytes of a backup to rows; see backup.h. Nothing in the file is trusted: every
 * size is compared with what is there before it is used, and memory grows with the bytes that were
 * read, not with the sizes that were promised.
 */
#include "host/backup.h"

#include "base/buf.h"
#include "base/error.h"
#include "drivers/zstd.h"
#include "runtime/runtime.h"

#define LINE_MAX_BYTES 64
#define PIECE_BYTES ((size_t)1 << 20)
#define UNKNOWN_COLUMN UINT32_MAX

/* A table as the file declares it. */
struct declared {
    bool is_there;
    enum pawl_table table;
    uint32_t column_count;
    uint8_t columns[PAWL_BACKUP_COLUMNS_MAX]; /* numbers of our own columns */
};

/* Room for a row of any table. */
union any_row {
    struct pawl_instance_row instance;
    struct pawl_bookmark_row bookmark;
    struct pawl_work_row work;
    struct pawl_reservation_row reservation;
    struct pawl_journal_row journal;
    struct pawl_definition_row definition;
    struct pawl_trigger_row trigger;
    struct pawl_setting_row setting;
    struct pawl_dead_letter_row dead_letter;
    struct pawl_node_row node;
    struct pawl_stamp_row stamp;
};

struct decoder {
    const struct pawl_backup_source *source;
    const struct pawl_backup_options *options;
    pawl_row_visitor visit;
    void *ctx;
    struct pawl_error *err;
    struct pawl_sha256 sha;
    struct pawl_zstd *zstd;
    bool plain;
    size_t block_max;
    struct pawl_buf stored;
    struct pawl_buf unpacked;
    struct pawl_str records; /* what is left of the block */
    struct declared tables[PAWL_BACKUP_TABLES_MAX];
    struct pawl_backup_counts counts;
};

/* ---- bytes ------------------------------------------------------------------------------- */

static int cut_off(struct decoder *d)
{
    return pawl__error_set(d->err, PAWL_ECORRUPT,
                           "the backup is truncated after %ju bytes; use a complete copy of it",
                           (uintmax_t)d->counts.size_bytes);
}

static int damaged(struct decoder *d, const char *what)
{
    return pawl__error_set(d->err, PAWL_ECORRUPT,
                           "the backup is damaged: %s, before byte %ju; use another copy of it",
                           what, (uintmax_t)d->counts.size_bytes);
}

/* Up to `size` bytes; fewer at the end only. */
static int read_some(struct decoder *d, void *out, size_t size, size_t *count)
{
    int status = d->source->read(d->source->ctx, out, size, count, d->err);

    if (status == PAWL_OK)
        d->counts.size_bytes += *count;
    return status;
}

static int read_exactly(struct decoder *d, void *out, size_t size)
{
    size_t count = 0;
    int status = read_some(d, out, size, &count);

    if (status != PAWL_OK)
        return status;
    if (count < size)
        return cut_off(d);
    pawl__sha256_update(&d->sha, out, size);
    return PAWL_OK;
}

/* Appends `size` bytes to `out`, in pieces: a promise of gigabytes costs what is really there. */
static int read_into(struct decoder *d, struct pawl_buf *out, size_t size)
{
    while (size > 0) {
        size_t piece = size < PIECE_BYTES ? size : PIECE_BYTES;
        char *to = pawl__buf_reserve(out, piece);
        int status;

        if (!to)
            return pawl__error_code(d->err, out->status);
        status = read_exactly(d, to, piece);
        if (status != PAWL_OK)
            return status;
        out->len += piece;
        size -= piece;
    }
    return PAWL_OK;
}

static uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;

    for (size_t i = count; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

/* ---- the header -------------------------------------------------------------------------- */

static int no_backup(struct decoder *d)
{
    return pawl__error_set(d->err, PAWL_EPARSE,
                           "this is not a backup: it does not begin with 'pawl-backup'");
}

static int read_line(struct decoder *d, char line[LINE_MAX_BYTES], size_t *len)
{
    static const char magic[] = PAWL_BACKUP_MAGIC;

    for (*len = 0; *len < LINE_MAX_BYTES; (*len)++) {
        size_t count = 0;
        int status = read_some(d, line + *len, 1, &count);

        if (status != PAWL_OK)
            return status;
        if (count == 0)
            return *len >= sizeof magic - 1 ? cut_off(d) : no_backup(d);
        pawl__sha256_update(&d->sha, line + *len, 1);
        if (*len < sizeof magic - 1 && line[*len] != magic[*len])
            return no_backup(d);
        if (line[*len] == '\n')
            return PAWL_OK;
    }
    return damaged(d, "its first line is too long");
}

static struct pawl_str next_word(struct pawl_str *rest)
{
    size_t space = pawl__str_find(*rest, ' ', 0);
    struct pawl_str word = pawl__str_slice(*rest, 0, space);

    *rest = space == SIZE_MAX ? pawl__str("") : pawl__str_slice(*rest, space + 1, SIZE_MAX);
    return word;
}

/* Up to nine digits; -1 for anything else. */
static int64_t small_number(struct pawl_str word)
{
    int64_t value = 0;

    if (word.len == 0 || word.len > 9)
        return -1;
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] < '0' || word.ptr[i] > '9')
            return -1;
        value = value * 10 + (word.ptr[i] - '0');
    }
    return value;
}

static int read_header(struct decoder *d)
{
    char line[LINE_MAX_BYTES];
    struct pawl_str rest, format, compression;
    size_t len = 0;
    int status = read_line(d, line, &len);

    if (status != PAWL_OK)
        return status;
    rest = pawl__str_make(line, len);
    (void)next_word(&rest);
    format = next_word(&rest);
    if (small_number(format) < 0)
        return damaged(d, "its first line has no format");
    if (small_number(format) != PAWL_BACKUP_FORMAT)
        return pawl__error_set(d->err, PAWL_EUNSUPPORTED,
                               "the backup has format %.*s, and this Pawl reads format %d; use the "
                               "version of Pawl that made it, or a newer one",
                               PAWL_STR_ARG(format), PAWL_BACKUP_FORMAT);
    if (!pawl__str_is(next_word(&rest), "schema"))
        return damaged(d, "its first line has no schema");
    d->counts.schema = small_number(next_word(&rest));
    compression = next_word(&rest);
    d->plain = pawl__str_is(compression, "plain");
    if (d->counts.schema < 0 || rest.len > 0 || (!d->plain && !pawl__str_is(compression, "zstd")))
        return damaged(d, "its first line is not valid");
    return PAWL_OK;
}

/* ---- records ----------------------------------------------------------------------------- */

static bool take_byte(struct decoder *d, char *out)
{
    if (d->records.len == 0)
        return false;
    PAWL_ASSERT(d->records.ptr);
    *out = d->records.ptr[0];
    d->records = pawl__str_slice(d->records, 1, SIZE_MAX);
    return true;
}

static bool take_number(struct decoder *d, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char bits;
        char byte;

        if (!take_byte(d, &byte))
            return false;
        bits = (unsigned char)byte;
        if (shift == 63 && bits > 1)
            return false;
        value |= (uint64_t)(bits & 0x7F) << shift;
        if (!(bits & 0x80)) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct decoder *d, struct pawl_str *out)
{
    uint64_t size;

    if (!take_number(d, &size) || size > d->records.len)
        return false;
    *out = pawl__str_slice(d->records, 0, (size_t)size);
    d->records = pawl__str_slice(d->records, (size_t)size, SIZE_MAX);
    return true;
}

static bool find_table(struct pawl_str name, enum pawl_table *out)
{
    for (unsigned table = 0; table < PAWL_TABLE_COUNT; table++) {
        if (pawl__str_is(name, pawl_table_info((enum pawl_table)table)->name)) {
            *out = (enum pawl_table)table;
            return true;
        }
    }
    return false;
}

static uint32_t find_column(const struct pawl_table_info *info, struct pawl_str name)
{
    for (uint32_t i = 0; i < info->column_count; i++)
        if (pawl__str_is(name, info->columns[i].name))
            return i;
    return UNKNOWN_COLUMN;
}

static int newer(struct decoder *d, const char *what, struct pawl_str name)
{
    return pawl__error_set(d->err, PAWL_EUNSUPPORTED,
                           "the backup has a %s '%.*s' that this Pawl does not know; use the "
                           "version of Pawl that made it, or a newer one",
                           what, (int)(name.len < 64 ? name.len : 64), name.ptr);
}

static int read_column(struct decoder *d, struct declared *table)
{
    static const char letters[] = {
        [PAWL_COLUMN_TEXT] = 't', [PAWL_COLUMN_BYTES] = 'b', [PAWL_COLUMN_INT] = 'i'};
    const struct pawl_table_info *info = pawl_table_info(table->table);
    struct pawl_str name;
    uint32_t column;
    char type;

    if (!take_bytes(d, &name) || !take_byte(d, &type))
        return damaged(d, "a table ends early");
    column = find_column(info, name);
    if (column == UNKNOWN_COLUMN)
        return newer(d, "column", name);
    for (uint32_t i = 0; i < table->column_count; i++)
        if (table->columns[i] == column)
            return damaged(d, "a table has a column twice");
    if (type != letters[info->columns[column].type])
        return damaged(d, "a column has the wrong type");
    table->columns[table->column_count++] = (uint8_t)column;
    return PAWL_OK;
}

static int read_table(struct decoder *d)
{
    struct declared table = {.is_there = true};
    struct pawl_str name;
    uint64_t number, columns;

    if (!take_number(d, &number) || !take_bytes(d, &name) || !take_number(d, &columns))
        return damaged(d, "a table ends early");
    if (number >= PAWL_BACKUP_TABLES_MAX || d->tables[number].is_there)
        return damaged(d, "a table has no number of its own");
    if (!find_table(name, &table.table))
        return newer(d, "table", name);
    for (size_t i = 0; i < PAWL_BACKUP_TABLES_MAX; i++)
        if (d->tables[i].is_there && d->tables[i].table == table.table)
            return damaged(d, "a table is declared twice");
    for (uint64_t i = 0; i < columns; i++) {
        int status = read_column(d, &table);

        if (status != PAWL_OK)
            return status;
    }
    /* Without its key no row could be told from another. */
    for (uint32_t key = 0; key < pawl_table_info(table.table)->key_count; key++)
        if (!memchr(table.columns, (int)key, table.column_count))
            return damaged(d, "a table has no key");
    d->tables[number] = table;
    return PAWL_OK;
}

static bool read_value(struct decoder *d, const struct pawl_column *column, char *at)
{
    if (column->type == PAWL_COLUMN_INT) {
        uint64_t zigzag;
        int64_t value;

        if (!take_number(d, &zigzag))
            return false;
        value = (int64_t)(zigzag >> 1) ^ -(int64_t)(zigzag & 1);
        memcpy(at, &value, sizeof value);
    } else {
        struct pawl_str value;

        if (!take_bytes(d, &value))
            return false;
        memcpy(at, &value, sizeof value);
    }
    return true;
}

static int read_row(struct decoder *d)
{
    const struct pawl_table_info *info;
    const struct declared *table;
    union any_row row;
    uint64_t number;

    if (!take_number(d, &number) || number >= PAWL_BACKUP_TABLES_MAX || !d->tables[number].is_there)
        return damaged(d, "a row has no table");
    table = &d->tables[number];
    info = pawl_table_info(table->table);
    PAWL_ASSERT(info->row_size <= sizeof row);
    memset(&row, 0, sizeof row);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct pawl_column *column = &info->columns[table->columns[i]];

        if (!read_value(d, column, (char *)&row + column->offset))
            return damaged(d, "a row ends early");
    }
    if (table->table == PAWL_TABLE_INSTANCES &&
        ((const struct pawl_instance_row *)(const void *)&row)->id.len > PAWL_INSTANCE_ID_MAX)
        return damaged(d, "an instance has an id that is too long");
    d->counts.rows[table->table]++;
    d->counts.row_count++;
    return d->visit ? d->visit(d->ctx, table->table, &row, d->err) : PAWL_OK;
}

static int read_records(struct decoder *d)
{
    int status = PAWL_OK;
    char tag;

    while (status == PAWL_OK && take_byte(d, &tag)) {
        if (tag == 'T')
            status = read_table(d);
        else if (tag == 'R')
            status = read_row(d);
        else
            status = damaged(d, "a record is neither table nor row");
    }
    return status;
}

/* ---- blocks ------------------------------------------------------------------------------ */

static int read_block(struct decoder *d, size_t stored_size)
{
    unsigned char head[4];
    size_t plain_size;
    int status = read_exactly(d, head, sizeof head);

    if (status != PAWL_OK)
        return status;
    plain_size = (size_t)little_endian(head, 4);
    if (plain_size == 0 || plain_size > d->block_max || stored_size > d->stored.max)
        return damaged(d, "a block is too large");
    if (d->plain && stored_size != plain_size)
        return damaged(d, "the two sizes of a block differ");
    pawl__buf_clear(&d->stored);
    status = read_into(d, &d->stored, stored_size);
    if (status != PAWL_OK)
        return status;
    d->records = pawl__buf_peek(&d->stored);
    if (!d->plain) {
        pawl__buf_clear(&d->unpacked);
        status = pawl__zstd_decompress(d->zstd, d->records, plain_size, &d->unpacked, d->err);
        if (status == PAWL_ECORRUPT || status == PAWL_ELIMIT)
            return damaged(d, "a block cannot be decompressed");
        if (status != PAWL_OK)
            return status;
        if (d->unpacked.len != plain_size)
            return damaged(d, "a block does not have the size that it states");
        d->records = pawl__buf_peek(&d->unpacked);
    }
    return read_records(d);
}

static int read_end(struct decoder *d)
{
    unsigned char rows[8], digest[PAWL_SHA256_BYTES];
    size_t count = 0;
    char more;
    int status = read_exactly(d, rows, sizeof rows);

    if (status != PAWL_OK)
        return status;
    pawl__sha256_final(&d->sha, d->counts.digest);
    status = read_some(d, digest, sizeof digest, &count);
    if (status != PAWL_OK)
        return status;
    if (count < sizeof digest)
        return cut_off(d);
    if (memcmp(digest, d->counts.digest, sizeof digest) != 0)
        return damaged(d, "its checksum is wrong");
    if (little_endian(rows, 8) != d->counts.row_count)
        return damaged(d, "it does not have the number of rows that it states");
    status = read_some(d, &more, 1, &count);
    if (status == PAWL_OK && count > 0)
        return damaged(d, "there is data after its end");
    return status;
}

static int read_blocks(struct decoder *d)
{
    for (;;) {
        unsigned char head[4];
        size_t size;
        int status = read_exactly(d, head, sizeof head);

        if (status != PAWL_OK)
            return status;
        size = (size_t)little_endian(head, 4);
        if (size == 0)
            return read_end(d);
        status = read_block(d, size);
        if (status != PAWL_OK)
            return status;
        if (d->options->progress)
            d->options->progress(d->options->progress_ctx, &d->counts);
    }
}

int pawl__backup_decode(const struct pawl_allocator *alloc, const struct pawl_backup_source *source,
                        const struct pawl_backup_options *options, pawl_row_visitor visit,
                        void *ctx, struct pawl_backup_counts *counts, struct pawl_error *err)
{
    static const struct pawl_backup_options usual = {.plain = false};
    struct decoder d = {.source = source,
                        .options = options ? options : &usual,
                        .visit = visit,
                        .ctx = ctx,
                        .err = err};
    int status;

    d.block_max = d.options->block_bytes_max ? d.options->block_bytes_max : PAWL_BACKUP_BLOCK_MAX;
    pawl__sha256_init(&d.sha);
    /* What does not compress becomes a little longer. */
    pawl__buf_init(&d.stored, alloc, d.block_max + (d.block_max >> 6) + 64);
    pawl__buf_init(&d.unpacked, alloc, d.block_max);
    status = pawl__zstd_new(alloc, &d.zstd, err);
    if (status == PAWL_OK)
        status = read_header(&d);
    if (status == PAWL_OK)
        status = read_blocks(&d);
    if (status == PAWL_OK && counts)
        *counts = d.counts;
    pawl__zstd_free(d.zstd);
    pawl__buf_release(&d.stored);
    pawl__buf_release(&d.unpacked);
    return status;
}
