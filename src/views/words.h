/* SPDX-License-Identifier: Apache-2.0 */
/* Words for people: times, lengths of time, lines for a shell. */
#ifndef PAWL_VIEWS_WORDS_H
#define PAWL_VIEWS_WORDS_H

#include "base/arena.h"

#include <pawl/str.h>

#include <stdint.h>

#define PAWL_WORDS_SIZE 32

/* "3m 2s" of a length of time in microseconds; of a negative one too, without its sign. */
const char *pawl__words_span(int64_t us, char out[PAWL_WORDS_SIZE]);
/* "2026-11-16 07:12:03" of a store's time, UTC; "-" of 0. */
const char *pawl__words_time(int64_t us, char out[PAWL_WORDS_SIZE]);
/* A word of a shell's command line, quoted where it must be; NULL: the arena's status. */
const char *pawl__words_quote(struct pawl_arena *arena, struct pawl_str word);

#endif
