/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are refused, or read as rows whose texts lie within them. The first byte of an input
 * chooses: 'b' gives the rest as it is; 'r' makes the rest the records of a block of an otherwise
 * sound backup, which no fuzzer would find because of the checksum.
 */
#include "host/backup.h"
#include "base/buf.h"
#include "fuzz/fuzz.h"

#define BLOCK_MAX ((size_t)1 << 16)

struct reading {
    struct pawl_str bytes;
    size_t at;
};

static int read_bytes(void *ctx, void *out, size_t size_bytes, size_t *count,
                      struct pawl_error *err)
{
    struct reading *reading = ctx;
    struct pawl_str piece = pawl__str_slice(reading->bytes, reading->at, reading->at + size_bytes);

    (void)err;
    if (piece.len > 0)
        memcpy(out, piece.ptr, piece.len);
    reading->at += piece.len;
    *count = piece.len;
    return PAWL_OK;
}

/* Looks at every byte, so that a sanitizer sees what is out of bounds. */
static int visit(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    uint64_t *sum = ctx;

    (void)err;
    for (uint32_t i = 0; i < info->column_count; i++) {
        struct pawl_str text;

        if (info->columns[i].type == PAWL_COLUMN_INT)
            continue;
        memcpy(&text, (const char *)row + info->columns[i].offset, sizeof text);
        for (size_t j = 0; j < text.len; j++)
            *sum += (unsigned char)text.ptr[j];
    }
    return PAWL_OK;
}

static void make_block(struct pawl_buf *out, struct pawl_str records)
{
    unsigned char digest[PAWL_SHA256_BYTES];

    pawl__buf_text(out, "pawl-backup 1 schema 1 plain\n");
    for (int twice = 0; twice < 2 && records.len > 0; twice++)
        for (unsigned i = 0; i < 4; i++)
            pawl__buf_byte(out, (char)(records.len >> (8 * i)));
    pawl__buf_str(out, records);
    pawl__buf_append(out, "\0\0\0\0\1\0\0\0\0\0\0\0", 12);
    pawl__sha256(pawl__buf_peek(out), digest);
    pawl__buf_append(out, (const char *)digest, sizeof digest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_str bytes = pawl__str_make((const char *)data, size);
    struct pawl_backup_options options = {.block_bytes_max = BLOCK_MAX};
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_buf made;
    struct reading reading = {.at = 0};
    struct pawl_backup_source source = {read_bytes, &reading};
    uint64_t sum = 0;
    int status;

    if (size == 0)
        return 0;
    pawl__buf_init(&made, &alloc, (size_t)1 << 24);
    reading.bytes = pawl__str_slice(bytes, 1, SIZE_MAX);
    if (data[0] == 'r') {
        make_block(&made, reading.bytes);
        reading.bytes = pawl__buf_peek(&made);
    }
    status = pawl__backup_decode(&alloc, &source, &options, visit, &sum, NULL, &err);
    FUZZ_DEMAND(status == PAWL_OK || (err.code == status && err.msg[0] != '\0'));
    FUZZ_DEMAND(status == PAWL_OK || status == PAWL_EPARSE || status == PAWL_ECORRUPT ||
                status == PAWL_EUNSUPPORTED);
    pawl__buf_release(&made);
    return 0;
}
