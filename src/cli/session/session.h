/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands on a store have in hand: the configured host, started, with its runtime. A command
 * that wants one has PAWL_CLI_CONFIGURE_OPTIONS in its table of options.
 */
#ifndef PAWL_CLI_SESSION_SESSION_H
#define PAWL_CLI_SESSION_SESSION_H

#include "cli/session/configure.h"
#include "host/host.h"
#include "operations/operation.h"

struct pawl_interrupt;

#define PAWL_CLI_ACTOR_SIZE 72

struct pawl_cli_session {
    struct pawl_cli *cli;
    struct pawl_configuration configuration;
    struct pawl_host *host;
    /* Raised when the node is over for good; NULL: nobody waits for that. */
    struct pawl_interrupt *interrupt;
    struct pawl_mutex *lines;        /* held while a line of a workflow is written */
    bool is_waiting;                 /* for its store; this was said */
    bool looks_only;                 /* it reads: it joins no store as a node */
    bool measures;                   /* what it does is measured */
    bool as_json;                    /* lines of workflows go to standard error then */
    char actor[PAWL_CLI_ACTOR_SIZE]; /* "cli:NAME", the system's user */
};

/* How long a command waits for the store, or for an instance that is busy. */
#define PAWL_CLI_WAIT_NS INT64_C(30000000000)

/*
 * A node of its own for the time of the command: under a name that nobody expects back, or, for one
 * that stays (`named`), under the configured one. On failure there is nothing to close.
 */
PAWL_MUST_CHECK int pawl__cli_session_open(struct pawl_cli *cli, bool named,
                                           struct pawl_cli_session *out, struct pawl_error *err);
/* The same for a command that only reads: it is no node, and leaves nothing in the store. */
PAWL_MUST_CHECK int pawl__cli_session_look(struct pawl_cli *cli, struct pawl_cli_session *out,
                                           struct pawl_error *err);
/* The second half, for one that sets more: `cli`, `configuration` and, where it is wanted,
 * `interrupt` of it are filled. With an interrupt, a named node tries for half a minute to reach a
 * store that fails over or is being restarted. PAWL_ESTOPPED: it was told to end meanwhile. */
PAWL_MUST_CHECK int pawl__cli_session_start(struct pawl_cli_session *out, bool named,
                                            struct pawl_error *err);
void pawl__cli_session_close(struct pawl_cli_session *session);
/*
 * For a node that stays, while it starts: whether an outage of its store may explain this status,
 * so that it tries again. Waits a little, until `until_ns` at the most. False with PAWL_ESTOPPED in
 * *status: it was told to end.
 */
bool pawl__cli_session_tries_again(struct pawl_cli_session *session, int64_t until_ns, int *status,
                                   struct pawl_error *err);
/* Until when a node that starts now tries again. */
int64_t pawl__cli_session_patience(const struct pawl_cli_session *session);

/* The deadline of a call that begins now. */
int64_t pawl__cli_session_deadline(const struct pawl_cli_session *session);

/* An operation of this command, with a deadline of its own; what it returns is in cli->arena. */
struct pawl_op pawl__cli_session_op(const struct pawl_cli_session *session, struct pawl_error *err);
/* The same with time for very many changes: it ends when they are done, or with Ctrl-C. */
struct pawl_op pawl__cli_session_bulk_op(const struct pawl_cli_session *session,
                                         struct pawl_error *err);

/*
 * What became of a step behind the change that the command was asked for, which is stored. Whatever
 * failed since, the command is done: an exit code that says "nothing was changed" would have a
 * script do it twice. So an error is a note on standard error, which says `undone`, what this step
 * was for; `err` is empty then, and PAWL_OK returned. A FATAL error stays one, behind a note: its
 * exit code says nothing of what was changed.
 */
PAWL_MUST_CHECK int pawl__cli_session_stored(struct pawl_cli_session *session, int status,
                                             const char *undone, struct pawl_error *err);

/* Does what is due until nothing is: what a command set off. What fails is a note, as above. */
PAWL_MUST_CHECK int pawl__cli_session_drain(struct pawl_cli_session *session,
                                            struct pawl_error *err);
/* The same for about a second: of commands that are done already, in a store whose work may be
 * without end. The rest is a worker's, or the next command's. */
PAWL_MUST_CHECK int pawl__cli_session_drain_briefly(struct pawl_cli_session *session,
                                                    struct pawl_error *err);

/* What to do about an error of a command on a store. */
const char *pawl__cli_session_hint(int code);
/* Reports an error with that hint, or with this one if something was not found. Returns the exit
 * code. */
int pawl__cli_session_failed(struct pawl_cli_session *session, struct pawl_error *err,
                             const char *not_found_hint);

/*
 * Opens, runs `body`, closes. An error of any of them is reported; `body` returns the exit code.
 */
int pawl__cli_in_session(struct pawl_cli *cli,
                         int (*body)(struct pawl_cli_session *session, struct pawl_error *err));
/* For one that only reads. */
int pawl__cli_in_look(struct pawl_cli *cli,
                      int (*body)(struct pawl_cli_session *session, struct pawl_error *err));

/* "2026-11-16 07:12:03" of a store time, UTC; "-" of 0. */
#define PAWL_CLI_TIME_TEXT 32
const char *pawl__cli_time_text(int64_t us, char out[PAWL_CLI_TIME_TEXT]);

#endif
