/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of stored states and counts, for their brief form (base/json/brief.h). The list is
 * frozen by tests/unit/runtime/words.c: nodes of the same schema version read what others wrote.
 */
#ifndef PAWL_RUNTIME_WORDS_H
#define PAWL_RUNTIME_WORDS_H

#include "base/json/brief.h"

void pawl__stored_words(struct pawl_words *words);

#endif
