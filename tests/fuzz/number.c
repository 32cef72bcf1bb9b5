/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that scripts, templates and tokens convert: numbers, dates, ids, bytes. What is read and
 * written again reads as the same.
 */
#include "engine/value/number.h"
#include "base/base64.h"
#include "base/hex.h"
#include "base/id.h"
#include "engine/value/net_date.h"
#include "fuzz/fuzz.h"

#define BYTES_MAX ((size_t)1 << 12)

static void read_numbers(struct pawl_str text)
{
    static const enum pawl_number_style styles[] = {PAWL_NUMBER_FLOAT, PAWL_NUMBER_GROUPS,
                                                    PAWL_NUMBER_AMOUNT};
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_number_text number, again;
    struct pawl_net_decimal decimal, same;
    char digits[PAWL_NET_DECIMAL_TEXT_SIZE];
    struct pawl_arena arena;
    int64_t integer;
    double binary;

    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        if (!pawl__number_scan(text, styles[i], &number))
            continue;
        pawl__arena_init(&arena, &alloc, (size_t)1 << 24);
        FUZZ_DEMAND(pawl__number_to_double(&arena, &number, &binary) == PAWL_OK);
        pawl__arena_release(&arena);
        if (!pawl__net_decimal_from_text(&number, &decimal))
            continue;
        FUZZ_DEMAND(pawl__net_decimal_format(&decimal, digits) < sizeof digits);
        FUZZ_DEMAND(pawl__number_scan(pawl__str(digits), PAWL_NUMBER_FLOAT, &again));
        FUZZ_DEMAND(pawl__net_decimal_from_text(&again, &same));
        FUZZ_DEMAND(same.digits == decimal.digits && same.scale == decimal.scale);
    }
    (void)!pawl__number_parse_int(text, &integer);
    (void)!pawl__number_parse_hex(text, 16, &integer);
    (void)!pawl__number_parse_hex(text, 64, &integer);
}

static void read_bytes(struct pawl_str text)
{
    static unsigned char bytes[BYTES_MAX];
    static char again[2 * BYTES_MAX];
    size_t len;

    if (text.len > BYTES_MAX)
        return;
    len = pawl__base64_decode(text, bytes);
    FUZZ_DEMAND(len == pawl__base64_decode(text, NULL));
    FUZZ_DEMAND(len == SIZE_MAX || pawl__base64_len(len) <= text.len);
    len = pawl__base64url_decode(text, bytes);
    if (len != SIZE_MAX) {
        FUZZ_DEMAND(pawl__base64url_len(len) == text.len);
        pawl__base64url_encode(bytes, len, again);
        FUZZ_DEMAND(memcmp(again, text.ptr, text.len) == 0);
    }
    if (pawl__hex_decode(text, bytes)) {
        pawl__hex_encode(bytes, text.len / 2, PAWL_HEX_LOWER, again);
        FUZZ_DEMAND(pawl__hex_decode(pawl__str_make(again, text.len), bytes));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_str text = pawl__str_make((const char *)data, size);
    struct pawl_uuid uuid, same;
    struct pawl_datetime date;
    char id[PAWL_UUID_TEXT_SIZE], written[PAWL_DATETIME_TEXT_SIZE];

    read_numbers(text);
    read_bytes(text);
    if (pawl__net_date_parse(text, &date))
        FUZZ_DEMAND(pawl__datetime_format(date, written) < sizeof written);
    if (pawl__uuid_parse(text, &uuid, NULL) != PAWL_OK)
        return 0;
    pawl__uuid_format(&uuid, id);
    FUZZ_DEMAND(pawl__uuid_parse(pawl__str(id), &same, NULL) == PAWL_OK);
    FUZZ_DEMAND(memcmp(&uuid, &same, sizeof uuid) == 0);
    return 0;
}
