/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line being made, shared by log.c and the two formats. A format writes pieces into `out` and
 * lets its sticky status say that one did not fit; log.c then takes the piece back.
 */
#ifndef PAWL_BASE_LOG_LINE_H
#define PAWL_BASE_LOG_LINE_H

#include "base/json/json.h"
#include "base/log.h"
#include "base/time/datetime.h"

struct pawl_log_line {
    struct pawl_buf out;
    struct pawl_json_writer json; /* JSON only */
    const struct pawl_log *log;
    bool first; /* no field written yet */
};

/* A field with its value cut to what may be shown: for TEXT and ERROR, `text` is what is left. */
struct pawl_log_piece {
    const struct pawl_log_field *field;
    struct pawl_str text; /* TEXT: the value; ERROR: the message */
    bool cut;             /* text ends in "…" */
};

struct pawl_log_format_ops {
    void (*begin)(struct pawl_log_line *line, enum pawl_log_level level,
                  const struct pawl_civil *time, struct pawl_str message);
    void (*field)(struct pawl_log_line *line, const struct pawl_log_piece *piece);
    void (*end)(struct pawl_log_line *line, bool truncated); /* with the newline */
};

extern const struct pawl_log_format_ops pawl__log_text_ops;
extern const struct pawl_log_format_ops pawl__log_json_ops;

/* The most bytes `end` may add. */
#define PAWL_LOG_END_MAX 32

#endif
