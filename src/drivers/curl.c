/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP executor on libcurl: its thread, what is handed to it, and its end. One request is
 * curl_transfer.c's. libcurl's handles are touched by the thread alone; others leave a note and
 * wake it.
 */
#include "drivers/curl_private.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

/* The longest wait: then the environment's stop is looked at. */
#define SLICE_MS 1000

#define SYMBOL(function) PAWL_LIBRARY_SYMBOL(curl_functions, function),
static const struct pawl_library_symbol symbols[] = {CURL_FUNCTIONS(SYMBOL)};
#undef SYMBOL

static const struct pawl_library_need need = {
    {"libcurl.so.4"}, "libcurl4", symbols, sizeof symbols / sizeof symbols[0]};

/* ---- the thread -------------------------------------------------------------------------- */

/* After `done` has returned: a caller that waits in cancel() may continue. */
static void mark_finished(struct curl_driver *driver, struct curl_transfer *transfer)
{
    /* In an environment that is stopped nobody else is left who would look. */
    bool locked = pawl_mutex_lock(driver->env, driver->mutex) == PAWL_OK;

    pawl__list_remove(&transfer->link);
    driver->count--;
    if (locked) {
        pawl_cond_broadcast(driver->env, driver->ended);
        pawl_mutex_unlock(driver->env, driver->mutex);
    }
    pawl__curl_transfer_free(transfer);
}

/* What was handed in becomes libcurl's. false: it is time to stop. */
static bool accept_new(struct curl_driver *driver)
{
    struct pawl_list_link *link;
    bool stop;

    do {
        struct curl_transfer *transfer;
        bool cancelled = false;
        CURLcode code;

        if (pawl_mutex_lock(driver->env, driver->mutex) != PAWL_OK)
            return false;
        stop = driver->stop;
        link = stop ? NULL : pawl__list_pop_front(&driver->waiting);
        transfer = PAWL_CONTAINER(link, struct curl_transfer, link);
        if (link) {
            cancelled = transfer->cancelled;
            pawl__list_push_back(&driver->under_way, link);
        }
        pawl_mutex_unlock(driver->env, driver->mutex);
        if (!link || cancelled)
            continue; /* a cancelled one goes with the others */
        code = pawl__curl_transfer_begin(transfer);
        if (code != CURLE_OK) {
            pawl__curl_transfer_remove(transfer);
            pawl__curl_transfer_end(transfer, code);
            mark_finished(driver, transfer);
        }
    } while (link);
    return !stop;
}

static void end_finished(struct curl_driver *driver)
{
    CURLMsg *message;
    int left;

    while ((message = driver->call.curl_multi_info_read(driver->multi, &left)) != NULL) {
        CURLcode code = message->data.result;
        struct curl_transfer *transfer = NULL;
        char *private = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)driver->call.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        transfer = (struct curl_transfer *)(void *)private;
        pawl__curl_transfer_remove(transfer);
        if (pawl__curl_transfer_restart(transfer, &code))
            continue;
        pawl__curl_transfer_end(transfer, code);
        mark_finished(driver, transfer);
    }
}

/* The next one that was cancelled; NULL. */
static struct curl_transfer *find_cancelled(struct curl_driver *driver)
{
    struct curl_transfer *transfer, *found = NULL;

    if (pawl_mutex_lock(driver->env, driver->mutex) != PAWL_OK)
        return NULL;
    PAWL_LIST_FOR_EACH (transfer, &driver->under_way, link) {
        if (transfer->cancelled && !found)
            found = transfer;
    }
    pawl_mutex_unlock(driver->env, driver->mutex);
    return found;
}

static void give_up(struct curl_driver *driver, struct curl_transfer *transfer)
{
    pawl__curl_transfer_remove(transfer);
    pawl__curl_transfer_give_up(transfer);
    mark_finished(driver, transfer);
}

static void give_up_list(struct curl_driver *driver, struct pawl_list *list)
{
    struct pawl_list_link *link;

    while ((link = pawl__list_empty(list) ? NULL : list->head.next) != NULL)
        give_up(driver, PAWL_CONTAINER(link, struct curl_transfer, link));
}

static void run(void *arg)
{
    struct curl_driver *driver = arg;
    struct curl_transfer *cancelled;
    int running;

    while (accept_new(driver)) {
        pawl__curl_pools_trim(driver);
        (void)driver->call.curl_multi_perform(driver->multi, &running);
        end_finished(driver);
        while ((cancelled = find_cancelled(driver)) != NULL)
            give_up(driver, cancelled);
        (void)driver->call.curl_multi_poll(driver->multi, NULL, 0, SLICE_MS, NULL);
        if (pawl_env_sleep_until(driver->env, INT64_MIN) == PAWL_ESTOPPED)
            break;
    }
    give_up_list(driver, &driver->under_way);
    give_up_list(driver, &driver->waiting);
}

/*
 * Without descriptors it makes one that cannot be woken, in which each request would wait for a
 * slice to end, for good.
 */
static CURLM *new_multi(struct curl_driver *driver)
{
    CURLM *multi = driver->call.curl_multi_init();

    if (!multi || driver->call.curl_multi_wakeup(multi) == CURLM_OK)
        return multi;
    (void)driver->call.curl_multi_cleanup(multi);
    return NULL;
}

/* With the mutex held. On failure the next request tries again. */
static int start(struct curl_driver *driver, struct pawl_error *err)
{
    int status = PAWL_OK;

    if (!driver->library.handle)
        status = pawl__library_open(&need, &driver->call, &driver->library, err);
    if (status != PAWL_OK)
        return status;
    if (!driver->multi) {
        if (driver->call.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
            return pawl__error_set(err, PAWL_ENOMEM, "libcurl cannot be set up");
        driver->multi = new_multi(driver);
        if (!driver->multi) {
            driver->call.curl_global_cleanup();
            return pawl__error_set(err, PAWL_ENOMEM,
                                   "there is no memory or no descriptor for libcurl");
        }
    }
    status = pawl_thread_start(driver->env, "pawl-http", run, driver, &driver->thread, err);
    driver->is_running = status == PAWL_OK;
    return status;
}

/* ---- the executor ------------------------------------------------------------------------ */

/* With the mutex held. */
static int hand_over(struct curl_driver *driver, struct curl_transfer *transfer, uint64_t *ticket,
                     struct pawl_error *err)
{
    if (driver->stop)
        return pawl__error_code(err, PAWL_ESTOPPED);
    if (driver->count >= driver->options.requests_max)
        return pawl__error_set(err, PAWL_EBUSY, "%u requests are in progress, the maximum",
                               driver->options.requests_max);
    *ticket = transfer->ticket = ++driver->last_ticket;
    driver->count++;
    pawl__list_push_back(&driver->waiting, &transfer->link);
    return PAWL_OK;
}

static int ensure_started(struct curl_driver *driver, struct pawl_error *err)
{
    int status = pawl_mutex_lock(driver->env, driver->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (!driver->is_running)
        status = start(driver, err);
    pawl_mutex_unlock(driver->env, driver->mutex);
    return status;
}

static int submit(struct pawl_http_executor *executor, const struct pawl_http_request *request,
                  pawl_http_done done, void *ctx, uint64_t *ticket, struct pawl_error *err)
{
    struct curl_driver *driver = (struct curl_driver *)executor;
    struct curl_transfer *transfer = NULL;
    int status = ensure_started(driver, err);

    if (status == PAWL_OK)
        status = pawl__curl_transfer_new(driver, request, &transfer, err);
    if (status != PAWL_OK)
        return status;
    transfer->done = done;
    transfer->ctx = ctx;
    status = pawl_mutex_lock(driver->env, driver->mutex);
    if (status == PAWL_OK) {
        status = hand_over(driver, transfer, ticket, err);
        pawl_mutex_unlock(driver->env, driver->mutex);
    } else {
        (void)pawl__error_code(err, status);
    }
    if (status == PAWL_OK)
        (void)driver->call.curl_multi_wakeup(driver->multi);
    else
        pawl__curl_transfer_free(transfer);
    return status;
}

static bool mark_cancelled(struct pawl_list *list, uint64_t ticket)
{
    struct curl_transfer *transfer;

    PAWL_LIST_FOR_EACH (transfer, list, link) {
        if (transfer->ticket == ticket)
            return transfer->cancelled = true;
    }
    return false;
}

/* Ends the thread; what is under way is given up by it. */
static void join(struct curl_driver *driver)
{
    if (!driver->is_running)
        return;
    (void)driver->call.curl_multi_wakeup(driver->multi);
    pawl_thread_join(driver->env, driver->thread);
    driver->is_running = false;
}

static void cancel(struct pawl_http_executor *executor, uint64_t ticket)
{
    struct curl_driver *driver = (struct curl_driver *)executor;
    int status = pawl_mutex_lock(driver->env, driver->mutex);
    bool locked = status == PAWL_OK;

    while (status == PAWL_OK && (mark_cancelled(&driver->waiting, ticket) ||
                                 mark_cancelled(&driver->under_way, ticket))) {
        (void)driver->call.curl_multi_wakeup(driver->multi);
        status = pawl_cond_wait(driver->env, driver->ended, driver->mutex, PAWL_FOREVER);
    }
    if (locked)
        pawl_mutex_unlock(driver->env, driver->mutex);
    /* A stopped environment: the thread ends by itself, and one can still wait for that. */
    if (status == PAWL_ESTOPPED)
        join(driver);
}

static void close_driver(struct pawl_http_executor *executor)
{
    struct curl_driver *driver = (struct curl_driver *)executor;
    const struct pawl_allocator *alloc = &driver->env->alloc;

    if (driver->mutex && pawl_mutex_lock(driver->env, driver->mutex) == PAWL_OK) {
        driver->stop = true;
        pawl_mutex_unlock(driver->env, driver->mutex);
    }
    join(driver);
    pawl__curl_pools_free(driver);
    if (driver->multi) {
        (void)driver->call.curl_multi_cleanup(driver->multi);
        driver->call.curl_global_cleanup();
    }
    pawl__library_close(&driver->library);
    pawl_cond_free(driver->env, driver->ended);
    pawl_mutex_free(driver->env, driver->mutex);
    pawl__free(alloc, (void *)(uintptr_t)driver->options.ca_file, driver->ca_file_size);
    pawl__free(alloc, driver, sizeof *driver);
}

static const struct pawl_http_executor_ops operations = {PAWL_HTTP_VERSION, close_driver, submit,
                                                         cancel};

static void set_options(struct curl_driver *driver, const struct pawl_curl_options *options)
{
    if (options)
        driver->options = *options;
    driver->options.ca_file = NULL;
    if (driver->options.timeout_ns == 0)
        driver->options.timeout_ns = PAWL_CURL_TIMEOUT_NS;
    if (driver->options.connect_ns == 0)
        driver->options.connect_ns = PAWL_CURL_CONNECT_NS;
    if (driver->options.response_bytes_max == 0)
        driver->options.response_bytes_max = PAWL_CURL_RESPONSE_BYTES;
    if (driver->options.requests_max == 0)
        driver->options.requests_max = PAWL_CURL_REQUESTS;
    if (driver->options.pools_max == 0)
        driver->options.pools_max = PAWL_CURL_POOLS;
    if (driver->options.connections_max == 0)
        driver->options.connections_max = PAWL_CURL_CONNECTIONS;
    if (driver->options.idle_ns == 0)
        driver->options.idle_ns = PAWL_CURL_IDLE_NS;
}

static bool copy_ca_file(struct curl_driver *driver, const char *path)
{
    size_t size = strlen(path) + 1;
    char *copy = pawl__alloc(&driver->env->alloc, size);

    if (!copy)
        return false;
    memcpy(copy, path, size);
    driver->options.ca_file = copy;
    driver->ca_file_size = size;
    return true;
}

int pawl__curl_open(struct pawl_env *env, const struct pawl_curl_options *options,
                    struct pawl_http_executor **out, struct pawl_error *err)
{
    struct curl_driver *driver = pawl__alloc_zeroed(&env->alloc, sizeof *driver);

    if (!driver)
        return pawl__error_code(err, PAWL_ENOMEM);
    driver->base.ops = &operations;
    driver->env = env;
    pawl__list_init(&driver->waiting);
    pawl__list_init(&driver->under_way);
    pawl__list_init(&driver->pools);
    set_options(driver, options);
    if (pawl_mutex_new(env, "http", &driver->mutex) != PAWL_OK ||
        pawl_cond_new(env, "http", &driver->ended) != PAWL_OK ||
        (options && options->ca_file && !copy_ca_file(driver, options->ca_file))) {
        close_driver(&driver->base);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    *out = &driver->base;
    return PAWL_OK;
}
