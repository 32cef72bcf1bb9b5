/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library itself uses of logging besides <pawl/ext/log.h>: a sink in memory, fields from
 * struct pawl_str, and text made safe for a terminal.
 */
#ifndef PAWL_BASE_LOG_H
#define PAWL_BASE_LOG_H

#include "base/buf.h"
#include "base/str.h"

#include <pawl/ext/log.h>

#include <stdatomic.h>

/*
 * A sink that keeps lines one behind the other, for tests. Lines that no longer fit are counted
 * and dropped whole. Any thread may write; read it when none does any more.
 */
struct pawl_log_memory {
    char *bytes; /* borrowed */
    size_t size_bytes;
    atomic_size_t len;
    atomic_size_t lost_count; /* lines */
};

void pawl__log_memory_init(struct pawl_log_memory *memory, char *bytes, size_t size_bytes);
/* Borrows `memory` for as long as loggers use the sink. */
struct pawl_log_sink pawl__log_memory_sink(struct pawl_log_memory *memory);
struct pawl_str pawl__log_memory_peek(const struct pawl_log_memory *memory);

static inline struct pawl_log_field pawl__log_str(const char *key, struct pawl_str value)
{
    return pawl_log_str(key, value.ptr, value.len);
}

/*
 * Appends `s` so that a terminal shows it and does nothing else: control characters (C0, DEL, C1),
 * line separators and marks that change the direction of writing become \n, \t, \x1b or \u2028;
 * malformed UTF-8 becomes \xNN. With `quoted` also quote and backslash are escaped.
 */
void pawl__printable(struct pawl_buf *out, struct pawl_str s, bool quoted);

/* The same for the character at *pos, which moves behind it. Returns how many bytes. */
#define PAWL_PRINTABLE_MAX 8
size_t pawl__printable_next(struct pawl_str s, size_t *pos, bool quoted,
                            char out[PAWL_PRINTABLE_MAX]);

#endif
