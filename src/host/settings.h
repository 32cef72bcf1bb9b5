/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings, as data. A setting has one name everywhere: `node.lease` in a file and in messages,
 * PAWL_NODE_LEASE as a variable, `--set node.lease=…` on a command line (and an option of its own
 * where people type it often). To add one, add a row; everything else is made from it.
 */
#ifndef PAWL_HOST_SETTINGS_H
#define PAWL_HOST_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum pawl_setting_type {
    PAWL_SETTING_TEXT,
    PAWL_SETTING_CHOICE,   /* one of `choices`; the value is its octal number, if it is one */
    PAWL_SETTING_INT,      /* from `min` to `max` */
    PAWL_SETTING_AUTO,     /* the same, or `auto`, which is -1 */
    PAWL_SETTING_BOOL,     /* true false yes no on off 1 0 */
    PAWL_SETTING_DURATION, /* 500ms 10s 5m; the value is in nanoseconds */
    PAWL_SETTING_SIZE,     /* 65536 64K 64KB 1M 2G, by 1024; the value is in bytes */
    PAWL_SETTING_URI,      /* shown without its password */
};

/* X(NAME of enum, name, type, default, environment variable, option, min, max, help) */
#define PAWL_SETTING_LIST(X)                                                                       \
    X(STORE, "store", URI, "sqlite:pawl.db", "PAWL_STORE", "store", 0, 0,                          \
      "Where instances are kept: memory:, sqlite:PATH or postgres://...")                          \
    X(STORE_CONNECTIONS, "store.connections", INT, "8", "PAWL_STORE_CONNECTIONS", NULL, 1, 1000,   \
      "Maximum connections to a store that is a server")                                           \
    X(STORE_TRACE, "store.trace", BOOL, "false", "PAWL_STORE_TRACE", NULL, 0, 0,                   \
      "Count the calls to the store and its round trips")                                          \
    X(FILE_MODE, "file.mode", CHOICE, "0600", "PAWL_FILE_MODE", NULL, 0, 0,                        \
      "Mode of stores, backups and exports: 0600 0640 0660 0644 0664")                             \
    X(LOCK, "lock", URI, "", "PAWL_LOCK", "lock", 0, 0,                                            \
      "Lock service: file:DIR, sqlite:FILE, ...; not set: the store's own")                        \
    X(LOCK_TTL, "lock.ttl", DURATION, "30s", "PAWL_LOCK_TTL", NULL, 100000000,                     \
      INT64_C(86400000000000), "How long a lock lasts without renewal; in a cluster: node.lease")  \
    X(LOCK_POLL_MAX, "lock.poll_max", DURATION, "800ms", "PAWL_LOCK_POLL_MAX", NULL, 1000000,      \
      INT64_C(3600000000000), "Longest pause between two polls of a lock")                         \
    X(LOCK_RETRIES, "lock.retries", INT, "3", "PAWL_LOCK_RETRIES", NULL, 0, 100,                   \
      "How often a caller retries a lock service that fails")                                      \
    X(LOCK_RETRY_DELAY, "lock.retry_delay", DURATION, "500ms", "PAWL_LOCK_RETRY_DELAY", NULL, 0,   \
      INT64_C(60000000000), "Pause before the first retry; doubled each time")                     \
    X(LOCK_ACQUIRE_TIMEOUT, "lock.acquire_timeout", DURATION, "10s", "PAWL_LOCK_ACQUIRE_TIMEOUT",  \
      NULL, 1000000, INT64_C(3600000000000), "How long a caller waits for an instance's lock")     \
    X(LOCK_TRY_WAIT, "lock.try_wait", DURATION, "50ms", "PAWL_LOCK_TRY_WAIT", NULL, 0,             \
      INT64_C(10000000000), "How long a worker waits for it before it does something else")        \
    X(LOCK_PATIENCE, "lock.patience", DURATION, "0s", "PAWL_LOCK_PATIENCE", NULL, 0,               \
      INT64_C(3600000000000), "How long a refused lock is respected; 0s: node.lease")              \
    X(LOCK_ALLOW_LOCAL, "lock.allow_local", BOOL, "false", "PAWL_LOCK_ALLOW_LOCAL", NULL, 0, 0,    \
      "Allow locks that not all nodes of the store see")                                           \
    X(LOCK_SHARED, "lock.shared", BOOL, "false", "PAWL_LOCK_SHARED", NULL, 0, 0,                   \
      "Lock files are shared by all users who may write to their folder")                          \
    X(QUEUE_PARTITIONS, "queue.partitions", INT, "1", "PAWL_QUEUE_PARTITIONS", NULL, 1, 1024,      \
      "Parts of the work that nodes query at the same time")                                       \
    X(DISTRIBUTED, "distributed", BOOL, "false", "PAWL_DISTRIBUTED", "distributed", 0, 0,          \
      "Several nodes share the store")                                                             \
    X(NODE_ID, "node.id", TEXT, "", "PAWL_NODE_ID", NULL, 0, 0,                                    \
      "Name of this node, the same after restarts; not set: a new one")                            \
    X(NODE_LEASE, "node.lease", DURATION, "10s", "PAWL_NODE_LEASE", NULL, 1000000000,              \
      INT64_C(3600000000000), "How long a node's claims last without renewal")                     \
    X(LOG_LEVEL, "log.level", CHOICE, "warn", "PAWL_LOG_LEVEL", "log-level", 0, 0,                 \
      "Log lines to write: off, error, warn, info, debug, trace")                                  \
    X(LOG_FORMAT, "log.format", CHOICE, "text", "PAWL_LOG_FORMAT", "log-format", 0, 0,             \
      "Log lines as text or json")                                                                 \
    X(WORKERS, "workers", AUTO, "auto", "PAWL_WORKERS", "workers", 0, 256,                         \
      "Instances that run at a time; auto: one per core; 0: none")                                 \
    X(SERVER_LISTEN, "server.listen", TEXT, "127.0.0.1:5001", "PAWL_SERVER_LISTEN", "listen", 0,   \
      0, "Where 'pawl serve' listens: HOST:PORT, unix:PATH")                                       \
    X(DELIVERY, "delivery", CHOICE, "direct", "PAWL_DELIVERY", NULL, 0, 0,                         \
      "How an event reaches an idle instance: direct, rows, mixed")                                \
    X(SERVER_TLS_CERTIFICATE, "server.tls.certificate", TEXT, "", "PAWL_SERVER_TLS_CERTIFICATE",   \
      NULL, 0, 0, "PEM file: speak HTTPS with it; SIGHUP reads it again")                          \
    X(SERVER_TLS_KEY, "server.tls.key", TEXT, "", "PAWL_SERVER_TLS_KEY", NULL, 0, 0,               \
      "PEM file: the certificate's private key")                                                   \
    X(SERVER_TRUSTED_PROXIES, "server.trusted_proxies", TEXT, "", "PAWL_SERVER_TRUSTED_PROXIES",   \
      NULL, 0, 0, "Whose X-Forwarded-* counts: loopback private 192.0.2.0/24")                     \
    X(SERVER_PUBLIC_URL, "server.public_url", TEXT, "", "PAWL_SERVER_PUBLIC_URL", NULL, 0, 0,      \
      "URL that clients use, for links; not set: as they name it")                                 \
    X(SERVER_THREADS, "server.threads", INT, "64", "PAWL_SERVER_THREADS", NULL, 1, 1024,           \
      "Requests handled at a time, and as many that run workflows")                                \
    X(SERVER_QUEUE, "server.queue", INT, "1024", "PAWL_SERVER_QUEUE", NULL, 1, 1000000,            \
      "Requests that wait for a thread; more get 503")                                             \
    X(SERVER_CONNECTIONS, "server.connections", INT, "16384", "PAWL_SERVER_CONNECTIONS", NULL, 1,  \
      1000000, "Connections at a time; more get 503")                                              \
    X(SERVER_CONNECTIONS_ADDRESS, "server.connections_per_address", INT, "4096",                   \
      "PAWL_SERVER_CONNECTIONS_PER_ADDRESS", NULL, 0, 1000000,                                     \
      "The same of one address; 0: any number")                                                    \
    X(SERVER_HEAD_MAX, "server.head_max", SIZE, "16K", "PAWL_SERVER_HEAD_MAX", NULL, 1 << 10,      \
      1 << 20, "Largest head of a request; more gets 431")                                         \
    X(SERVER_TARGET_MAX, "server.target_max", SIZE, "8K", "PAWL_SERVER_TARGET_MAX", NULL, 256,     \
      1 << 20, "Longest path with its query; more gets 414")                                       \
    X(SERVER_BODY_MAX, "server.body_max", SIZE, "16M", "PAWL_SERVER_BODY_MAX", NULL, 1 << 10,      \
      INT64_C(1) << 40, "Largest body of a request; more gets 413")                                \
    X(SERVER_BODIES_MAX, "server.bodies_max", SIZE, "256M", "PAWL_SERVER_BODIES_MAX", NULL,        \
      1 << 10, INT64_C(1) << 40, "All bodies that are held at a time; more get 503")               \
    X(SERVER_RESPONSE_MAX, "server.response_max", SIZE, "256M", "PAWL_SERVER_RESPONSE_MAX", NULL,  \
      1 << 10, INT64_C(1) << 40, "Largest response that is made in one piece")                     \
    X(SERVER_REPLIES_MAX, "server.replies_max", SIZE, "256M", "PAWL_SERVER_REPLIES_MAX", NULL,     \
      1 << 10, INT64_C(1) << 40, "All unread responses; more: slow readers are disconnected")      \
    X(SERVER_STREAM_MAX, "server.stream_max", SIZE, "256K", "PAWL_SERVER_STREAM_MAX", NULL,        \
      64 << 10, 1 << 30, "What a response in pieces may have waiting to be sent")                  \
    X(SERVER_HEAD_TIMEOUT, "server.head_timeout", DURATION, "10s", "PAWL_SERVER_HEAD_TIMEOUT",     \
      NULL, 1000000, INT64_C(3600000000000), "How long a head or a handshake may take; then 408")  \
    X(SERVER_BODY_TIMEOUT, "server.body_timeout", DURATION, "15s", "PAWL_SERVER_BODY_TIMEOUT",     \
      NULL, 1000000, INT64_C(3600000000000), "The same of a body, and a second for each rate_min") \
    X(SERVER_REQUEST_TIMEOUT, "server.request_timeout", DURATION, "60s",                           \
      "PAWL_SERVER_REQUEST_TIMEOUT", NULL, 1000000, INT64_C(86400000000000),                       \
      "How long a request may take; then 504")                                                     \
    X(SERVER_SEND_TIMEOUT, "server.send_timeout", DURATION, "30s", "PAWL_SERVER_SEND_TIMEOUT",     \
      NULL, 1000000, INT64_C(3600000000000), "How long a client may not read its response")        \
    X(SERVER_IDLE_TIMEOUT, "server.idle_timeout", DURATION, "75s", "PAWL_SERVER_IDLE_TIMEOUT",     \
      NULL, 1000000, INT64_C(86400000000000), "How long a connection stays between requests")      \
    X(SERVER_RATE_MIN, "server.rate_min", SIZE, "4K", "PAWL_SERVER_RATE_MIN", NULL, 1, 1 << 30,    \
      "Bytes per second that clients must move")                                                   \
    X(SERVER_HEARTBEAT, "server.heartbeat", DURATION, "15s", "PAWL_SERVER_HEARTBEAT", NULL,        \
      1000000, INT64_C(3600000000000), "After which silence events and sockets are pinged")        \
    X(SERVER_COMPRESSION, "server.compression", BOOL, "true", "PAWL_SERVER_COMPRESSION", NULL, 0,  \
      0, "Compress large responses for clients that accept gzip")                                  \
    X(SERVER_CORS, "server.cors", TEXT, "", "PAWL_SERVER_CORS", NULL, 0, 0,                        \
      "Origins whose pages may call the server: https://a.example; *")                             \
    X(SERVER_RATE, "server.rate", INT, "10000", "PAWL_SERVER_RATE", NULL, 0, INT64_C(1000000),     \
      "Requests per second of one user or API key; 0: any number")                                 \
    X(STUDIO_FOLDER, "studio.folder", TEXT, "", "PAWL_STUDIO_FOLDER", "studio", 0, 0,              \
      "Folder with Elsa Studio's files: serve it under /studio/")                                  \
    X(ENDPOINTS_PATH, "endpoints.path", TEXT, "/workflows", "PAWL_ENDPOINTS_PATH", NULL, 0, 0,     \
      "Path below which workflows are HTTP endpoints")                                             \
    X(ENDPOINTS_RATE, "endpoints.rate", INT, "1000", "PAWL_ENDPOINTS_RATE", NULL, 0,               \
      INT64_C(1000000), "Requests per second of one stranger's address to endpoints; 0: any")      \
    X(ENDPOINTS_SECRETS, "endpoints.secrets", TEXT, "", "PAWL_ENDPOINTS_SECRETS", NULL, 0, 0,      \
      "Secrets of signed requests: NAME=VALUE, apart by spaces")                                   \
    X(ENDPOINTS_TIMEOUT, "endpoints.timeout", DURATION, "60s", "PAWL_ENDPOINTS_TIMEOUT", NULL,     \
      1000000, INT64_C(86400000000000), "How long a workflow may take to reply; then 504")         \
    X(METRICS_PUBLIC, "metrics.public", BOOL, "false", "PAWL_METRICS_PUBLIC", NULL, 0, 0,          \
      "Show /metrics without the permission read:metrics")                                         \
    X(ADMIN_API_KEY, "admin.api_key", TEXT, "", "PAWL_ADMIN_API_KEY", NULL, 0, 0,                  \
      "API key that may do everything; not set: the first start makes one")                        \
    X(COMMIT_BATCH, "commit.batch", INT, "128", "PAWL_COMMIT_BATCH", NULL, 1, 256,                 \
      "Maximum commits that go to the store together")                                             \
    X(DRAIN_DEADLINE, "drain.deadline", DURATION, "30s", "PAWL_DRAIN_DEADLINE", NULL, 0,           \
      INT64_C(86400000000000), "How long a node that stops waits for what it is running")          \
    X(STEP_DEADLINE, "step.deadline", DURATION, "5m", "PAWL_STEP_DEADLINE", NULL,                  \
      INT64_C(1000000000), INT64_C(86400000000000),                                                \
      "How long an activity may take; then its instance is set aside")                             \
    X(DEFINITIONS_FOLDER, "definitions.folder", TEXT, "", "PAWL_DEFINITIONS_FOLDER", NULL, 0, 0,   \
      "Folder whose *.json a worker loads when it starts")                                         \
    X(RETENTION_FINISHED, "retention.finished", DURATION, "0s", "PAWL_RETENTION_FINISHED", NULL,   \
      0, INT64_C(3153600000000000000), "How long finished instances are kept; 0s: for ever")       \
    X(RETENTION_CANCELLED, "retention.cancelled", DURATION, "0s", "PAWL_RETENTION_CANCELLED",      \
      NULL, 0, INT64_C(3153600000000000000), "The same for cancelled instances")                   \
    X(RETENTION_FAULTED, "retention.faulted", DURATION, "0s", "PAWL_RETENTION_FAULTED", NULL, 0,   \
      INT64_C(3153600000000000000), "The same for faulted instances")                              \
    X(RETENTION_DEAD_LETTERS, "retention.dead_letters", DURATION, "7d",                            \
      "PAWL_RETENTION_DEAD_LETTERS", NULL, 0, INT64_C(3153600000000000000),                        \
      "How long dead letters are kept; 0s: for ever")                                              \
    X(RETENTION_AUDIT, "retention.audit", DURATION, "0s", "PAWL_RETENTION_AUDIT", NULL, 0,         \
      INT64_C(3153600000000000000), "How long records of operators' changes are kept; 0s: ever")   \
    X(STIMULUS_TTL, "stimulus.ttl", DURATION, "10m", "PAWL_STIMULUS_TTL", NULL, 1000000000,        \
      INT64_C(3153600000000000000), "How long an event that nothing waits for yet is kept")        \
    X(JOURNAL_MAX_RECORDS, "journal.max_records", INT, "100000", "PAWL_JOURNAL_MAX_RECORDS", NULL, \
      1, INT64_C(1000000000), "Maximum log records of one instance; the oldest are deleted first") \
    X(ENGINE_YIELD_AFTER, "engine.yield_after", INT, "10000", "PAWL_ENGINE_YIELD_AFTER", NULL, 1,  \
      INT64_C(1000000000), "Activities after which an instance lets others run")                   \
    X(ENGINE_MEMORY, "engine.memory", SIZE, "256M", "PAWL_ENGINE_MEMORY", NULL, 1 << 20,           \
      INT64_C(1) << 40, "Maximum memory of one burst")                                             \
    X(TIMER_INTERVAL_MIN, "timer.interval.min", DURATION, "1s", "PAWL_TIMER_INTERVAL_MIN", NULL,   \
      1000000, INT64_C(86400000000000), "Shortest time between two starts by one timer")           \
    X(SCRIPT_FUEL, "script.fuel", INT, "8000", "PAWL_SCRIPT_FUEL", NULL, 1, INT64_C(4000000000),   \
      "Work limit of a script, in 30,000 loop iterations; 8000: 1 s")                              \
    X(SCRIPT_TIME, "script.time", DURATION, "1s", "PAWL_SCRIPT_TIME", NULL, 1000000,               \
      INT64_C(3600000000000), "Processor time of one script")                                      \
    X(SCRIPT_MEMORY, "script.memory", SIZE, "64M", "PAWL_SCRIPT_MEMORY", NULL, 1 << 20, 96 << 20,  \
      "Memory of one script")                                                                      \
    X(SCRIPT_STACK, "script.stack", SIZE, "192K", "PAWL_SCRIPT_STACK", NULL, 16 << 10, 1 << 20,    \
      "Stack of one script")                                                                       \
    X(SCRIPT_LARGE, "script.large", INT, "4", "PAWL_SCRIPT_LARGE", NULL, 1, 10000,                 \
      "Scripts at a time that use more than 8 MB; others wait")                                    \
    X(HTTP_TIMEOUT, "http.timeout", DURATION, "100s", "PAWL_HTTP_TIMEOUT", NULL, 1000000,          \
      INT64_C(3600000000000), "How long a request of a workflow may take as a whole")              \
    X(HTTP_RESPONSE_MAX, "http.response_max", SIZE, "16M", "PAWL_HTTP_RESPONSE_MAX", NULL, 1,      \
      INT64_C(1) << 30, "Largest response to a workflow's request, in bytes")                      \
    X(HTTP_DENY, "http.deny", TEXT, "", "PAWL_HTTP_DENY", NULL, 0, 0,                              \
      "Refused addresses: loopback private 192.0.2.0/24; sources add up")

enum pawl_setting_id {
#define PAWL_SETTING_ENUM(id, name, type, fallback, variable, option, min, max, help)              \
    PAWL_SETTING_ID_##id,
    PAWL_SETTING_LIST(PAWL_SETTING_ENUM)
#undef PAWL_SETTING_ENUM
        PAWL_SETTING_COUNT
};

struct pawl_setting {
    const char *name;
    enum pawl_setting_type type;
    const char *fallback; /* the default, as one would write it */
    const char *variable;
    const char *option; /* of the command line, without dashes; NULL: --set only */
    int64_t min, max;   /* INT, DURATION (ns), SIZE (bytes) */
    const char *help;
    const char *const *choices; /* CHOICE, ended by NULL */
    bool secret;                /* shown as *** */
    bool grows;                 /* a list of which every source adds to what the others said */
};

/* By enum pawl_setting_id. */
const struct pawl_setting *pawl__setting(enum pawl_setting_id id);
/* PAWL_SETTING_COUNT when there is none of that name. */
enum pawl_setting_id pawl__setting_find(const char *name);
/* The name that was probably meant; NULL. */
const char *pawl__setting_suggest(const char *name);

#endif
