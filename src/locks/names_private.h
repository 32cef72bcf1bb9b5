/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of names share. */
#ifndef PAWL_LOCKS_NAMES_PRIVATE_H
#define PAWL_LOCKS_NAMES_PRIVATE_H

#include "locks/names.h"

/* Whether a UTF-16 unit stays in the name of a file. */
bool pawl__lock_letter(uint16_t unit);

#endif
