/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading db-lib, its configuration, and connections; see freetds.h. Calls are in freetds_call.c,
 * errors in freetds_error.c.
 */
#include "drivers/freetds_private.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash/sha256.h"
#include "os/memory_file.h"

#include <stdatomic.h>
#include <stdio.h>

/* db-lib reads lines of 255 bytes, so a text in its configuration has this many at most. */
#define VALUE_MAX 220
#define SECTIONS_MAX ((size_t)1 << 20)
#define CONNECT_SECONDS 5
#define PATIENCE_SECONDS 5
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

#define SYMBOL(function) PAWL_LIBRARY_SYMBOL(tds_functions, function),
static const struct pawl_library_symbol symbols[] = {TDS_FUNCTIONS(SYMBOL)};
#undef SYMBOL

static const struct pawl_library_need need = {
    {"libsybdb.so.5"}, "libsybdb5", symbols, sizeof symbols / sizeof symbols[0]};

/* ---- what db-lib has once per process ---------------------------------------------------- */

/*
 * db-lib's handlers get no argument of ours, and while it connects nothing else that would lead to
 * the caller: the thread does.
 */
static _Thread_local struct tds_heard *current;

/* Its configuration: 0 not there yet, -1 being made, otherwise the descriptor of the file. It stays
 * until the process ends, as db-lib does, which has its path. */
static _Atomic(int) sections;

void pawl__tds_enter(struct tds_heard *heard)
{
    current = heard;
}

void pawl__tds_leave(void)
{
    current = NULL;
}

static int on_error(DBPROCESS *process, int severity, int number, int os_number, char *text,
                    char *os_text)
{
    (void)process;
    (void)severity;
    (void)os_text;
    /* 20018 only says that the server said something. */
    if (current && number != SYBESMSG && current->library_number == 0) {
        current->library_number = number;
        current->os_number = os_number;
        (void)snprintf(current->library_text, sizeof current->library_text, "%s", text ? text : "");
    }
    return INT_CANCEL;
}

static int on_message(DBPROCESS *process, DBINT number, int state, int severity, char *text,
                      char *server, char *procedure, int line)
{
    (void)process;
    (void)state;
    (void)server;
    (void)procedure;
    (void)line;
    if (current && severity > 10 && current->number == 0) {
        current->number = number;
        current->severity = severity;
        (void)snprintf(current->text, sizeof current->text, "%s", text ? text : "");
    }
    return 0;
}

/* db-lib asks once a second while it reads: has it been long enough? */
static int is_late(void *process)
{
    (void)process;
    return current && pawl_env_monotonic_ns(current->env) >= current->until_ns;
}

static int give_up(void *process)
{
    (void)process;
    return INT_CANCEL;
}

/* Once per process: the handlers and an empty configuration. */
static int set_up(const struct tds_functions *call, int *out, struct pawl_error *err)
{
    char path[PAWL_MEMORY_FILE_PATH_SIZE];
    int fd, status;

    if (call->dbinit() == FAIL)
        return pawl__error_set(err, PAWL_ENOMEM, "FreeTDS cannot be set up");
    status = pawl__memory_file_open("pawl-freetds", &fd, err);
    if (status != PAWL_OK)
        return status;
    pawl__memory_file_path(fd, path);
    call->dbsetifile(path);
    (void)call->dberrhandle(on_error);
    (void)call->dbmsghandle(on_message);
    *out = fd;
    return PAWL_OK;
}

static int ensure_sections(struct pawl_env *env, const struct tds_functions *call, int *out,
                           struct pawl_error *err)
{
    int status = PAWL_OK, none = 0;

    for (;;) {
        int fd = atomic_load(&sections);

        if (fd > 0) {
            *out = fd;
            return PAWL_OK;
        }
        none = 0;
        if (fd == 0 && atomic_compare_exchange_strong(&sections, &none, -1)) {
            status = set_up(call, &fd, err);
            atomic_store(&sections, status == PAWL_OK ? fd : 0);
            if (status != PAWL_OK)
                return status;
            continue;
        }
        status = pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + NS_PER_MS);
        if (status != PAWL_OK)
            return pawl__error_code(err, status);
    }
}

/* ---- our section of the configuration ---------------------------------------------------- */

/* Its parser drops double blanks and everything behind '#' and ';', and cannot quote. */
static bool fits_configuration(const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < ' ' || c == '#' || c == ';' || (c == ' ' && (i == 0 || text[i - 1] == ' ')))
            return false;
    }
    return length > 0 && length <= VALUE_MAX && text[length - 1] != ' ';
}

static int check_texts(const struct pawl_tds_options *options, struct pawl_error *err)
{
    if (!fits_configuration(options->host))
        return pawl__error_set(err, PAWL_EINVAL,
                               "SQL Server's host '%.60s' is not valid: at most %d bytes, without "
                               "'#', ';' and control characters",
                               options->host, VALUE_MAX);
    if (options->ca_file && !fits_configuration(options->ca_file))
        return pawl__error_set(
            err, PAWL_EINVAL,
            "FreeTDS does not accept the path '%.60s': at most %d bytes, without "
            "'#', ';', double blanks and control characters",
            options->ca_file, VALUE_MAX);
    return PAWL_OK;
}

static void write_section(const struct pawl_tds_options *options, struct pawl_buf *out)
{
    int64_t seconds = options->connect_seconds > 0 ? options->connect_seconds : CONNECT_SECONDS;

    pawl__buf_printf(out, "host = %s\nport = %u\ntds version = 7.4\nclient charset = UTF-8\n",
                     options->host, (unsigned)options->port);
    pawl__buf_printf(out, "connect timeout = %d\nencryption = %s\n", (int)seconds,
                     options->tls == PAWL_TDS_TLS_OFF ? "off" : "require");
    if (options->tls == PAWL_TDS_TLS_FULL || options->tls == PAWL_TDS_TLS_CA)
        pawl__buf_printf(out, "ca file = %s\ncheck certificate hostname = %s\n",
                         options->ca_file ? options->ca_file : "system",
                         options->tls == PAWL_TDS_TLS_FULL ? "yes" : "no");
}

static bool has_section(struct pawl_str file, const char *section)
{
    char heading[TDS_SECTION_SIZE + 3];
    size_t length = (size_t)snprintf(heading, sizeof heading, "[%s]\n", section);

    for (size_t i = 0; i + length <= file.len; i++)
        if (memcmp(file.ptr + i, heading, length) == 0)
            return true;
    return false;
}

/* A section is called after its content, so that what is there already is not added again. */
static int add_section(struct pawl_tds *tds, const struct pawl_tds_options *options,
                       struct pawl_error *err)
{
    struct pawl_buf content, whole, file;
    char digest[PAWL_SHA256_TEXT_SIZE];
    int fd = -1, status = ensure_sections(tds->env, &tds->call, &fd, err);

    if (status != PAWL_OK)
        return status;
    pawl__buf_init(&content, &tds->env->alloc, SECTIONS_MAX);
    pawl__buf_init(&whole, &tds->env->alloc, SECTIONS_MAX);
    pawl__buf_init(&file, &tds->env->alloc, SECTIONS_MAX);
    write_section(options, &content);
    pawl__sha256_text(pawl__buf_peek(&content), PAWL_HEX_LOWER, digest);
    (void)snprintf(tds->section, sizeof tds->section, "pawl-%.32s", digest);
    pawl__buf_printf(&whole, "[%s]\n%s\n", tds->section, pawl__buf_cstr(&content));
    status = content.status != PAWL_OK ? content.status : whole.status;
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    else
        status = pawl__memory_file_read(fd, &file, err);
    if (status == PAWL_OK && !has_section(pawl__buf_peek(&file), tds->section))
        status = pawl__memory_file_append(fd, pawl__buf_peek(&whole), err);
    pawl__buf_release(&content);
    pawl__buf_release(&whole);
    pawl__buf_release(&file);
    return status;
}

/* ---- library ----------------------------------------------------------------------------- */

static int copy_texts(struct pawl_tds *tds, const struct pawl_tds_options *options)
{
    const char *from[] = {options->host, options->user, options->password, options->database};
    const char **to[] = {&tds->host, &tds->user, &tds->password, &tds->database};
    size_t at = 0;

    for (size_t i = 0; i < 4; i++)
        tds->texts_size += strlen(from[i]) + 1;
    tds->texts = pawl__alloc(&tds->env->alloc, tds->texts_size);
    if (!tds->texts)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < 4; i++) {
        size_t size = strlen(from[i]) + 1;

        memcpy(tds->texts + at, from[i], size);
        *to[i] = tds->texts + at;
        at += size;
    }
    return PAWL_OK;
}

int pawl__tds_open(struct pawl_env *env, const struct pawl_tds_options *options,
                   struct pawl_tds **out, struct pawl_error *err)
{
    struct pawl_tds *tds;
    int status = check_texts(options, err);

    if (status != PAWL_OK)
        return status;
    tds = pawl__alloc_zeroed(&env->alloc, sizeof *tds);
    if (!tds)
        return pawl__error_code(err, PAWL_ENOMEM);
    tds->env = env;
    tds->port = options->port;
    tds->tls = options->tls;
    tds->has_ca_file = options->ca_file != NULL;
    tds->patience_ns =
        (options->patience_seconds > 0 ? options->patience_seconds : PATIENCE_SECONDS) * NS_PER_S;
    status = copy_texts(tds, options);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    else
        status = pawl__library_open(&need, &tds->call, &tds->library, err);
    if (status == PAWL_OK)
        status = add_section(tds, options, err);
    if (status == PAWL_OK)
        *out = tds;
    else
        pawl__tds_close(tds);
    return status;
}

void pawl__tds_close(struct pawl_tds *tds)
{
    if (!tds)
        return;
    pawl__library_close(&tds->library);
    pawl__free(&tds->env->alloc, tds->texts, tds->texts_size);
    pawl__free(&tds->env->alloc, tds, sizeof *tds);
}

/* ---- connecting -------------------------------------------------------------------------- */

/* db-lib connects with a timeout in seconds and no way out; whether anybody is there is found out
 * before it is asked. */
static int knock(struct pawl_tds *tds, const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    struct pawl_socket socket = PAWL_SOCKET_INIT;
    int status = pawl__socket_connect(tds->host, tds->port, wait, &socket, err);

    pawl__socket_close(&socket);
    if (status == PAWL_ENOTFOUND)
        status = PAWL_EUNAVAILABLE;
    if (status != PAWL_OK)
        (void)pawl__error_prefix(err, status, "SQL Server at %s port %u", tds->host,
                                 (unsigned)tds->port);
    return status;
}

static DBPROCESS *log_in(struct pawl_tds *tds, struct tds_heard *heard)
{
    LOGINREC *login = tds->call.dblogin();
    DBPROCESS *process = NULL;

    if (!login)
        return NULL;
    pawl__tds_enter(heard);
    if (tds->call.dbsetlname(login, tds->user, DBSETUSER) != FAIL &&
        tds->call.dbsetlname(login, tds->password, DBSETPWD) != FAIL &&
        tds->call.dbsetlname(login, "pawl", DBSETAPP) != FAIL &&
        (!*tds->database || tds->call.dbsetlname(login, tds->database, DBSETDBNAME) != FAIL))
        process = tds->call.tdsdbopen(login, tds->section, 1);
    pawl__tds_leave();
    tds->call.dbloginfree(login);
    return process;
}

int pawl__tds_connect(struct pawl_tds *tds, const struct pawl_socket_wait *wait,
                      struct pawl_tds_conn **out, struct pawl_error *err)
{
    struct pawl_tds_conn *conn = pawl__alloc_zeroed(&tds->env->alloc, sizeof *conn);
    int status;

    if (!conn)
        return pawl__error_code(err, PAWL_ENOMEM);
    conn->tds = tds;
    conn->heard.env = tds->env;
    conn->heard.until_ns = PAWL_FOREVER;
    status = knock(tds, wait, err);
    if (status == PAWL_OK) {
        conn->process = log_in(tds, &conn->heard);
        if (!conn->process)
            status = pawl__tds_connect_error(tds, &conn->heard, err);
    }
    if (status != PAWL_OK) {
        pawl__tds_disconnect(conn);
        return status;
    }
    tds->call.dbsetinterrupt(conn->process, is_late, give_up);
    *out = conn;
    return PAWL_OK;
}

void pawl__tds_disconnect(struct pawl_tds_conn *conn)
{
    if (!conn)
        return;
    if (conn->process) {
        pawl__tds_enter(&conn->heard);
        conn->tds->call.dbclose(conn->process);
        pawl__tds_leave();
    }
    pawl__free(&conn->tds->env->alloc, conn, sizeof *conn);
}

bool pawl__tds_is_broken(const struct pawl_tds_conn *conn)
{
    return conn->broken;
}

bool pawl__tds_is_quiet(const struct pawl_tds_conn *conn)
{
    const struct pawl_socket_wait now = {conn->tds->env, NULL, INT64_MIN};

    return !conn->broken && pawl__socket_wait_foreign(conn->tds->call.dbiordesc(conn->process),
                                                      PAWL_SOCKET_READABLE, &now) != PAWL_OK;
}

int32_t pawl__tds_error_number(const struct pawl_tds_conn *conn)
{
    return conn->heard.number;
}
