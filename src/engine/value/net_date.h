/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dates as .NET reads and prints them with its invariant culture. Reading is a
 * part of what it accepts: ISO 8601, month/day/year and year/month/day with or without a time, and
 * the form of RFC 1123 (Thu, 29 Feb 2024 12:00:00 GMT). A time without a date, which there means
 * today, is refused: the engine has no clock.
 */
#ifndef PAWL_ENGINE_VALUE_NET_DATE_H
#define PAWL_ENGINE_VALUE_NET_DATE_H

#include "base/buf.h"
#include "base/time/datetime.h"

/* `text` has no white space around. */
bool pawl__net_date_parse(struct pawl_str text, struct pawl_datetime *out);

/*
 * Appends MM/dd/yyyy, and HH:mm unless it is midnight (never the seconds), and the offset for
 * `with_offset`. The first of all days prints as nothing.
 */
void pawl__net_date_write(struct pawl_buf *out, struct pawl_datetime date, bool with_offset);

#endif
