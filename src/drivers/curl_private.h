/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the HTTP driver share; see curl.h. */
#ifndef PAWL_DRIVERS_CURL_PRIVATE_H
#define PAWL_DRIVERS_CURL_PRIVATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "drivers/curl.h"
#include "os/library.h"

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
    X(curl_multi_wakeup)                                                                           \
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
    bool is_running;          /* the library is loaded, the thread started */
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
};

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
    struct curl_slist *headers_out; /* libcurl's */
    CURL *easy;
    CURLcode refused; /* the first option that libcurl did not take */

    struct pawl_http_header *headers;
    size_t header_count;
    size_t header_cap;
    size_t header_bytes; /* of all answers, redirects included */
    struct pawl_buf body_in;
    bool is_too_large;
    bool is_denied;
    char text[CURL_ERROR_SIZE];
};

/* PAWL_ENOMEM, or PAWL_EINVAL: not to be sent at all; *out is NULL then. */
PAWL_MUST_CHECK int pawl__curl_transfer_new(struct curl_driver *driver,
                                            const struct pawl_http_request *request,
                                            struct curl_transfer **out, struct pawl_error *err);
void pawl__curl_transfer_free(struct curl_transfer *transfer);
/* Makes libcurl's handle and gives it to the multi. */
PAWL_MUST_CHECK CURLcode pawl__curl_transfer_begin(struct curl_transfer *transfer);
/* Tells its end and frees it. */
void pawl__curl_transfer_end(struct curl_transfer *transfer, CURLcode code);
void pawl__curl_transfer_give_up(struct curl_transfer *transfer);

#endif
