/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the numbers and words of servers and libraries mean: one pure function per source, each a
 * table from its codes to ours, whose class then says what may be done (<pawl/error.h>).
 *
 * The question for each row: did it surely not happen and may it work later (TRANSIENT), may it
 * have happened (UNKNOWN), is this the answer (DEFINITE), is the request wrong (CALLER), or can
 * what we stand on no longer be trusted (FATAL)?
 *
 * Many failures of a connection leave that open until one knows how far the request had come.
 * `sent` says: something whose effect lasts (a commit, a statement outside a transaction, a
 * request) may have reached the server. Without it the same failure is TRANSIENT.
 *
 * What is in no table is the worst that it can be: EUNKNOWN when sent, else EINTERNAL, unless the
 * function says otherwise. Functions never answer PAWL_OK but for codes that mean success.
 */
#ifndef PAWL_RESILIENCE_TRANSIENT_H
#define PAWL_RESILIENCE_TRANSIENT_H

#include "base/str.h"

#include <pawl/error.h>

/*
 * PostgreSQL: the five characters of an SQLSTATE, the most exact row first, then its class (the
 * first two). "" (libpq has none: the connection broke) is EUNAVAILABLE, EUNKNOWN when sent.
 */
int pawl__code_of_sqlstate(struct pawl_str sqlstate, bool sent);

/* SQL Server: error numbers of the server, and those of DB-Library (20000 and up). 0 is PAWL_OK. */
int pawl__code_of_sqlserver(int number, bool sent);
/* SQL Server: what sp_getapplock returns. 0 and all positive ones are PAWL_OK. */
int pawl__code_of_applock(int answer);

/*
 * errno of a socket call. Besides pawl__os_code(), which speaks of one system call, this one
 * speaks of the request for which the call was made. Not listed: EIO, EUNKNOWN when sent.
 */
int pawl__code_of_errno(int errnum, bool sent);

/*
 * The status of an HTTP response. Below 400: PAWL_OK. The server has answered, so that `sent` is
 * not asked; 500, 502 and 504 may come after the request took effect and are EUNKNOWN.
 */
int pawl__code_of_http(int http_status);

/* Redis: the first word of an error reply ("BUSY Redis is busy…"). Such a reply means: not done. */
int pawl__code_of_redis(struct pawl_str message);

/*
 * SQLite: an extended result code; those not listed count as their primary code (the low byte).
 * OK, ROW and DONE are PAWL_OK. It is a library: a call that failed has not happened.
 */
int pawl__code_of_sqlite(int extended_code);

/* libcurl: a CURLcode. 0 is PAWL_OK. */
int pawl__code_of_curl(int curl_code, bool sent);

#endif
