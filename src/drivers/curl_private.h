/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the HTTP driver share; see curl.h. */
#ifndef PAWL_DRIVERS_CURL_PRIVATE_H
#define PAWL_DRIVERS_CURL_PRIVATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "drivers/curl.h"
#include "os/library.h"
#include "os/socket.h"

/* Its checks of argument types are macros with the functions' names, which a table cannot have. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define CURL_FUNCTIONS(X)                                                                          \
    X(curl_easy_cleanup)                                                                           \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_init)                                                                              \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_strerror)                                                                          \
    X(curl_global_cleanup)                                                                         \
    X(curl_global_init)                                                                            \
    X(curl_multi_add_handle)                                                                       \
    X(curl_multi_cleanup)                                                                          \
    X(curl_multi_info_read)                                                                        \
    X(curl_multi_init)                                                                             \
    X(curl_multi_perform)                                                                          \
    X(curl_multi_poll)                                                                             \
    X(curl_multi_remove_handle)                                                                    \
    X(curl_multi_setopt)                                                                           \
    X(curl_multi_wakeup)                                                                           \
    X(curl_share_cleanup)                                                                          \
    X(curl_share_init)                                                                             \
    X(curl_share_setopt)                                                                           \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)

struct curl_functions {
#define CURL_POINTER(function) __typeof__(function) *(function);
    CURL_FUNCTIONS(CURL_POINTER)
#undef CURL_POINTER
};

struct curl_driver {
    struct pawl_http_executor base; /* first */
    struct pawl_env *env;
    struct pawl_curl_options options; /* ca_file is ours */
    size_t ca_file_size;

    struct pawl_mutex *mutex; /* guards what follows, and `cancelled` of transfers */
    struct pawl_cond *ended;  /* a request left the lists */
    bool is_running;          /* the library is loaded, the thread started and not joined */
    bool stop;
    uint64_t last_ticket;
    uint32_t count;             /* in both lists */
    struct pawl_list waiting;   /* struct curl_transfer: not yet libcurl's */
    struct pawl_list under_way; /* those that are; only the thread changes it */

    /* Written once, before the thread starts. */
    struct curl_functions call;
    struct pawl_library library;
    CURLM *multi;
    struct pawl_thread *thread;

    /* The thread's. */
    struct pawl_list pools; /* struct curl_pool: the least recently used first */
    uint32_t pool_count;
    uint32_t sockets; /* open: of requests that are under way, or idle */
    uint32_t active;  /* requests that libcurl has */
};

struct curl_pool;

/* One request. All but `cancelled` is the thread's once it was handed over. */
struct curl_transfer {
    struct pawl_list_link link;
    struct curl_driver *driver;
    uint64_t ticket;
    bool cancelled;
    pawl_http_done done;
    void *ctx;

    struct pawl_arena arena; /* the request, and the answer's headers */
    const char *method;
    const char *url;
    struct pawl_str body;
    bool has_body;
    struct pawl_str scope;
    struct curl_slist *headers_out; /* libcurl's */
    CURL *easy;
    int64_t begun_ns;        /* when libcurl got it first */
    bool is_active;          /* the multi has it */
    struct curl_pool *pool;  /* NULL: it has a connection to itself */
    CURLcode refused;        /* the first option that libcurl did not take */
    bool is_unclean;         /* ended because its connection had bytes that nobody asked for */
    bool is_restarted;       /* because of that, with a new connection */
    bool is_looked_up_again; /* its host, which was not found */

    struct pawl_http_header *headers;
    size_t header_count;
    size_t header_cap;
    size_t header_bytes; /* of all answers, redirects included */
    struct pawl_buf body_in;
    bool is_too_large;
    bool is_denied;
    int shortage; /* why there was no socket: an errno value; 0: there was, or the address is bad */
    char text[CURL_ERROR_SIZE];
};

/* PAWL_ENOMEM, or PAWL_EINVAL: not to be sent at all; *out is NULL then. */
PAWL_MUST_CHECK int pawl__curl_transfer_new(struct curl_driver *driver,
                                            const struct pawl_http_request *request,
                                            struct curl_transfer **out, struct pawl_error *err);
void pawl__curl_transfer_free(struct curl_transfer *transfer);
/* Makes libcurl's handle and gives it to the multi. */
PAWL_MUST_CHECK CURLcode pawl__curl_transfer_begin(struct curl_transfer *transfer);
/* Takes it from the multi. */
void pawl__curl_transfer_remove(struct curl_transfer *transfer);
/* Begins it anew, once, if nothing was sent and its connection was of no use or its host was not
 * found; false: it ended, with *code if that has become another. */
bool pawl__curl_transfer_restart(struct curl_transfer *transfer, CURLcode *code);
/* Reports its end. */
void pawl__curl_transfer_end(struct curl_transfer *transfer, CURLcode code);
void pawl__curl_transfer_give_up(struct curl_transfer *transfer);

/* ---- curl_pool.c ------------------------------------------------------------------------- */

/* The pool of a scope until it is released. NULL: there is no room, or no memory for one. */
struct curl_pool *pawl__curl_pool_acquire(struct curl_driver *driver, struct pawl_str scope);
void pawl__curl_pool_release(struct curl_pool *pool); /* NULL allowed */
CURLSH *pawl__curl_pool_share(const struct curl_pool *pool);

/* A socket that a transfer of the pool connects. false: no memory. */
PAWL_MUST_CHECK bool pawl__curl_pool_add_socket(struct curl_pool *pool,
                                                const struct curl_transfer *opener,
                                                curl_socket_t fd);
void pawl__curl_pools_remove_socket(struct curl_driver *driver, curl_socket_t fd);
/* The transfer has ended: what it opened and did not use is closed. */
void pawl__curl_pool_forget_sockets(struct curl_pool *pool, const struct curl_transfer *opener);
/*
 * Whether nothing waits to be read on the connection that a transfer is about to use. One that it
 * has opened itself counts as clean, whatever the server says first.
 */
bool pawl__curl_pool_is_clean(struct curl_pool *pool, const struct curl_transfer *user,
                              const struct pawl_socket_ends *ends);

/* Closes what was not used for long, or is too much. */
void pawl__curl_pools_trim(struct curl_driver *driver);
/* Nobody uses one. */
void pawl__curl_pools_free(struct curl_driver *driver);

#endif
