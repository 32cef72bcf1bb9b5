/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the hub share.
 *
 * One mutex, hub->mutex, guards everything but the list of what was told. Under it those of the
 * server (sending), of the guard, of the runtime's listener and of that list are locked; no store
 * is asked under it. That a client is gone, which the server's loop reports, sets a flag and wakes
 * the thread.
 *
 *     NEGOTIATED: no connection yet, only a token
 *         |  WebSocket, stream of events or first poll, on any node
 *         v
 *       GREETING --(handshake is wrong, or late)--> ENDING
 *         |  handshake
 *         v
 *        OPEN --(client or server closes, silence, nobody any more)--> ENDING
 *                                                                        |  transport is gone
 *                                                                        v
 *                                                                      freed
 */
#ifndef PAWL_API_HUB_PRIVATE_H
#define PAWL_API_HUB_PRIVATE_H

#include "api/hub/hub.h"
#include "api/hub/protocol.h"
#include "api/private.h"
#include "base/list.h"
#include "base/map.h"
#include "http/websocket.h"
#include "operations/changes.h"

/* Of a node. A connection with a subscription has some 2 KB. */
#define HUB_CONNECTIONS_MAX 8192u
/* Instances that are watched on a node, and by one connection: a view watches one. */
#define HUB_INSTANCES_MAX 2000u
#define HUB_SUBSCRIPTIONS_MAX 32u
/* So much of both one user or API key may have, that others get some. */
#define HUB_CALLER_CONNECTIONS_MAX (HUB_CONNECTIONS_MAX / 8)
#define HUB_CALLER_INSTANCES_MAX (HUB_INSTANCES_MAX / 8)
/* Bytes that wait for a client: what it asked for; updates take half of it at the most. Fewer where
 * the server's own queue, which they are passed on to at once, is smaller. */
#define HUB_QUEUE_BYTES_MAX ((size_t)128 << 10)
/* One update of an instance; a larger one is said without its counts. */
#define HUB_UPDATE_BYTES_MAX ((size_t)48 << 10)
/* Nodes of a graph whose counts are compared. */
#define HUB_NODES_MAX 4096u

#define HUB_NS_PER_MS INT64_C(1000000)
#define HUB_HANDSHAKE_NS (30 * NS_PER_S)
#define HUB_PING_NS (15 * NS_PER_S)
/* Clients ping every 15 s. */
#define HUB_SILENCE_NS (60 * NS_PER_S)
/* A poll that nothing comes for; and how long a client may take for its next one. */
#define HUB_POLL_NS (90 * NS_PER_S)
#define HUB_BETWEEN_POLLS_NS (30 * NS_PER_S)

#define HUB_PERMISSION "read:workflow-instances read:*"

enum hub_transport { HUB_WEB_SOCKET, HUB_EVENTS, HUB_POLLING };
#define HUB_TRANSPORTS 3

enum hub_state { HUB_GREETING, HUB_OPEN, HUB_ENDING };

/* A user or an API key that has connections. */
struct hub_caller {
    uint32_t connection_count;
    uint32_t group_count; /* that are charged to it */
    struct pawl_str key;
    char text[];
};

struct hub_connection {
    struct pawl_list_link link; /* of all */
    struct pawl_hub *hub;
    struct hub_caller *caller; /* while it is in the table */
    enum hub_transport transport;
    enum hub_state state;
    uint32_t users;                 /* the table or the transport, and threads that use it */
    struct pawl_websocket *socket;  /* until `closed` */
    struct pawl_exchange *exchange; /* the stream of events; the poll that waits; NULL: none */
    bool is_overfull;               /* what it asked for does not fit into `out` */
    bool has_failed;                /* something could not be sent: it connects again */
    atomic_bool gone;               /* set by the server's loop: of `exchange` */
    struct pawl_buf out;            /* whole messages that wait */
    struct pawl_list subscriptions; /* struct hub_subscription */
    uint32_t subscription_count;    /* and those that are being made */
    int64_t opened_ns, heard_ns, sent_ns;
    int64_t polled_ns;         /* when the last poll began, or ended */
    struct pawl_bearer bearer; /* id, is_application and generation only */
    struct pawl_str token;     /* "": it was not negotiated */
    char text[];
};

struct hub_subscription {
    struct pawl_list_link of_connection, of_group;
    struct hub_connection *connection;
    struct hub_group *group;
    bool is_pending; /* until the instance was looked at */
    bool is_behind;  /* an update did not fit: it gets all counts next */
    bool has_invocation;
    char invocation_id[HUB_INVOCATION_ID_MAX + 1];
};

/* How often a node of the graph was executed, as last said: hashes. */
struct hub_count {
    uint64_t node, text;
};

/* An instance that is watched. */
struct hub_group {
    struct pawl_list_link link;
    struct pawl_list subscriptions;
    struct hub_caller *caller; /* one who watches it; NULL: nobody does */
    bool is_loaded;            /* it was there; `revision` and `counts` are known */
    bool is_due;               /* it has changed, to `due_revision` */
    bool wants_full;           /* somebody is behind */
    bool is_busy;              /* the thread looks at it */
    int64_t revision, due_revision;
    int64_t rest_ns; /* not looked at before */
    struct hub_count *counts;
    size_t count, room;
    uint32_t hash;
    struct pawl_str id;
    char text[];
};

/* Instances that were committed here, for the thread; more than fit: all are looked at. */
#define HUB_TOLD_MAX 256u
struct hub_told {
    char id[PAWL_INSTANCE_ID_MAX];
    uint32_t len;
    int64_t revision;
};
/* By a hash of their ids, how many instances are watched: most commits are nobody's concern. */
#define HUB_FILTER_SIZE 1024u

struct pawl_hub {
    struct pawl_api *api;
    struct pawl_env *env;
    struct pawl_mutex *mutex;
    struct pawl_thread *thread; /* NULL: not yet */
    bool draining, stopping;
    struct pawl_list connections;
    struct pawl_map by_token, callers;
    uint32_t connection_count, transport_counts[HUB_TRANSPORTS];
    struct pawl_list groups;
    struct pawl_map by_id;
    uint32_t group_count;
    int64_t look_ns;           /* when to ask for revisions next */
    int64_t checked_ns;        /* when permissions were last checked */
    int64_t tend_ns;           /* when connections are tended next */
    atomic_bool wants_tending; /* before that: one is gone, or is to be closed */
    uint32_t pending_count;    /* subscriptions */
    size_t update_bytes_max, queue_bytes_max;
    uint64_t sent_count, dropped_count; /* since the thread last said so to the meter */

    atomic_uint filter[HUB_FILTER_SIZE];
    struct pawl_mutex *told_mutex; /* guards what follows; nothing else is locked under it */
    struct pawl_cond *wake;
    bool is_woken;
    struct hub_told *told;
    uint32_t told_count;
    bool told_too_many;
};

/* ---- hub.c ---------------------------------------------------------------------------------- */

void hub_lock(struct pawl_hub *hub);
void hub_unlock(struct pawl_hub *hub);
/* With the mutex or without. Something is to be done soon. */
void hub_wake(struct pawl_hub *hub);
/* The same, for connections. */
void hub_wake_to_tend(struct pawl_hub *hub);
/* With the mutex. false: it could not be started. */
bool hub_start_thread(struct pawl_hub *hub);

/* ---- caller.c: with the mutex ---------------------------------------------------------------- */

/* Whether it has as many connections as it may. */
bool hub_caller_is_full(const struct pawl_hub *hub, const struct pawl_bearer *bearer);
/* With one connection more. NULL: no memory, or too many. */
struct hub_caller *hub_caller_join(struct pawl_hub *hub, const struct pawl_bearer *bearer);
/* With one less; freed with the last. No group is charged to it then. */
void hub_caller_leave(struct pawl_hub *hub, struct hub_caller *caller);
/* Charges a group that nobody watched yet. false: it has too many. */
bool hub_caller_charge(struct hub_caller *caller, struct hub_group *group);
/* A subscription of the caller has left the group: somebody else who watches it is charged. */
void hub_caller_discharge(const struct hub_caller *caller, struct hub_group *group);

/* ---- connection.c: all with the mutex, unless it says otherwise ------------------------------ */

/* NULL: no memory, or too many. It has one user: its transport. */
struct hub_connection *hub_connection_new(struct pawl_hub *hub, enum hub_transport transport,
                                          const struct pawl_bearer *bearer, struct pawl_str token);
/* Without subscriptions and out of the tables; freed with its last user. */
void hub_connection_end(struct hub_connection *connection);
void hub_connection_unuse(struct hub_connection *connection);
/* Whole messages. PAWL_EBUSY: `may_drop`, and there is no room for it. Frees nothing. */
int hub_connection_send(struct hub_connection *connection, struct pawl_str messages, bool may_drop);
/* Passes on what waits, as far as its transport takes it. */
void hub_connection_flush(struct hub_connection *connection);
bool hub_connection_is_free(const struct hub_connection *connection);
/* Says why, then closes. The connection may be freed by it. */
void hub_connection_close(struct hub_connection *connection, const char *error,
                          bool allow_reconnect);
/* Without the mutex, with a user: what a client has sent. */
void hub_connection_receive(struct hub_connection *connection, struct pawl_str bytes);
/* Timers, and what its transport has reported. It may be freed by it. */
void hub_connection_tend(struct hub_connection *connection, int64_t now_ns);
void hub_connection_complete(struct hub_connection *connection, struct pawl_str invocation_id,
                             const char *error);

/* ---- watch.c: likewise ------------------------------------------------------------------------
 */

#define HUB_DENIED                                                                                 \
    "An unexpected error occurred invoking 'ObserveInstanceAsync' on the server. HubException: "   \
    "Access denied."

/* `invocation_id` ptr NULL: no completion is expected. */
void hub_observe(struct hub_connection *connection, struct pawl_str instance_id,
                 struct pawl_str invocation_id);
void hub_unsubscribe(struct hub_subscription *subscription);
/* It reads again. */
void hub_catch_up(struct hub_connection *connection);
/* Looks at what is due, letting go of the mutex meanwhile. When to come again. */
int64_t hub_watch(struct pawl_hub *hub, int64_t now_ns);
/* pawl_changed_fn. Without the mutex. */
void hub_told(void *ctx, struct pawl_str instance_id, int64_t revision);

#endif
