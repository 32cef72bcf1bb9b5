/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks by SQL Server: sp_getapplock with session scope, as .NET's DistributedLock library has it.
 *
 *     sqlserver://user:password@host[:1433]/database[?option=value&…]
 *
 *     encrypt=on|off       TLS; on
 *     trust=FILE           a certificate or authority (PEM) to trust instead of the system's
 *     verify=full|ca|none  the certificate and its name; only the certificate; neither. full
 *     connections=N        sessions at the most, 2 to 64; 8
 *     connect=SECONDS      for a login; 5
 *     patience=SECONDS     for the rest of a reply, and to undo an attempt; 5
 *     keepalive=SECONDS    a question on a session that holds locks and is idle; 60
 *
 * A lock belongs to a session, and many share one. A lock that is free is taken on a session that
 * is idle; a wait uses a session that holds nothing, so that no release has to wait behind
 * it. All but two sessions may wait at a time; a further waiter gets BUSY and polls
 * again. Locks end with their session: the server releases them, a thread here notices and says
 * that they are lost. A disconnected holder trusts a lock for 15 s after the last reply; a server
 * releases it of it after 30 s, unless its own keepalive is set to less.
 *
 * A wait that is given up is taken back by an Attention, and what it may have got by a release that
 * looks first. Tokens come from the sequence dbo.pawl_lock_token, which is made when it is missing
 * and the user may.
 *
 * Not run on Microsoft's server by our own tests: see docs/locks.md.
 */
#ifndef PAWL_LOCKS_SQLSERVER_H
#define PAWL_LOCKS_SQLSERVER_H

#include <pawl/ext/lock.h>

/* Reads the URI, does not connect. PAWL_EINVAL: the URI, PAWL_EMISSING: the client library. */
PAWL_MUST_CHECK int pawl__sqlserver_locks_open(struct pawl_env *env, struct pawl_str uri,
                                               struct pawl_lock_provider **out,
                                               struct pawl_error *err);

#endif
