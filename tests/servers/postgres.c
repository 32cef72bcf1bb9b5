/* SPDX-License-Identifier: Apache-2.0 */
/* A private PostgreSQL server, see postgres.h. */
#include "servers/postgres.h"

#include "lib/test.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often somebody looks whether the server has come up or gone, and for how long. */
#define LOOK_MS 5
#define LOOKS_MAX 12000

#define ARGUMENTS_MAX 24
/* Processes of a server. */
#define CHILDREN_MAX 256

/* ---- finding ----------------------------------------------------------------------------- */

/* Debian keeps each version in a folder of its own; elsewhere it is on the path. */
static void find_programs(struct test_postgres *server)
{
    char path[160];

    for (int version = 30; version >= 14; version--) {
        (void)snprintf(server->bin, sizeof server->bin, "/usr/lib/postgresql/%d/bin", version);
        (void)snprintf(path, sizeof path, "%s/initdb", server->bin);
        if (access(path, X_OK) == 0)
            return;
    }
    if (access("/usr/local/bin/initdb", X_OK) == 0)
        (void)snprintf(server->bin, sizeof server->bin, "/usr/local/bin");
    else if (access("/usr/bin/initdb", X_OK) == 0)
        (void)snprintf(server->bin, sizeof server->bin, "/usr/bin");
    else
        fail_msg("no PostgreSQL server (14 or newer): apt-get install postgresql");
}

/* ---- processes --------------------------------------------------------------------------- */

/* A tool of the server's, beside it. */
static void run(const struct test_postgres *server, const char *const *arguments)
{
    struct test_daemon tool = server->daemon;
    int status = -1;

    test_daemon_launch(&tool, arguments);
    while (waitpid(tool.pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status == 0)
        return;
    test_daemon_show_log(&server->daemon);
    fail_msg("%s failed (status %#x)", arguments[0], (unsigned)status);
}

/* The eighth line of postmaster.pid says it, and is written when connections are accepted. */
static bool is_ready(const struct test_postgres *server)
{
    char path[96], line[256];
    bool ready = false;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/data/postmaster.pid", server->daemon.folder);
    file = fopen(path, "r");
    if (!file)
        return false;
    for (int i = 1; fgets(line, sizeof line, file); i++)
        if (i == 8)
            ready = strncmp(line, "ready", 5) == 0;
    (void)fclose(file);
    return ready;
}

/* false: it ended, for example because another process took the port in between. */
static bool comes_up(struct test_postgres *server)
{
    for (int looks = 0; looks < LOOKS_MAX; looks++) {
        if (is_ready(server))
            return true;
        if (waitpid(server->daemon.pid, NULL, WNOHANG) == server->daemon.pid) {
            server->daemon.pid = 0;
            return false;
        }
        (void)poll(NULL, 0, LOOK_MS);
    }
    return false;
}

static bool launch_server(struct test_postgres *server)
{
    char program[160], data[96], port[16], socket_folder[96];
    const char *arguments[] = {program,
                               "-D",
                               data,
                               "-p",
                               port,
                               "-k",
                               socket_folder,
                               "-c",
                               "listen_addresses=127.0.0.1",
                               "-c",
                               "fsync=on",
                               "-c",
                               "max_connections=100",
                               NULL};

    (void)snprintf(program, sizeof program, "%s/postgres", server->bin);
    (void)snprintf(data, sizeof data, "%s/data", server->daemon.folder);
    (void)snprintf(port, sizeof port, "%u", (unsigned)server->port);
    (void)snprintf(socket_folder, sizeof socket_folder, "%s", server->daemon.folder);
    /* One that crashed has left it, and it may say "ready". */
    (void)snprintf(program, sizeof program, "%s/data/postmaster.pid", server->daemon.folder);
    (void)unlink(program);
    (void)snprintf(program, sizeof program, "%s/postgres", server->bin);
    test_daemon_launch(&server->daemon, arguments);
    return comes_up(server);
}

static void make_cluster(struct test_postgres *server)
{
    char program[160], data[96], secret[96], secret_option[112];
    const char *arguments[ARGUMENTS_MAX] = {
        program, "-D",   data,         "-U",        TEST_POSTGRES_USER,
        "-E",    "UTF8", "--locale=C", "--no-sync", "--no-instructions"};
    size_t count = 10;
    FILE *file;

    (void)snprintf(program, sizeof program, "%s/initdb", server->bin);
    (void)snprintf(data, sizeof data, "%s/data", server->daemon.folder);
    (void)snprintf(secret, sizeof secret, "%s/secret", server->daemon.folder);
    (void)snprintf(secret_option, sizeof secret_option, "--pwfile=%s", secret);
    if (*server->password) {
        file = fopen(secret, "w");
        assert_non_null(file);
        (void)fprintf(file, "%s\n", server->password);
        (void)fclose(file);
        if (geteuid() == 0)
            assert_int_equal(chown(secret, server->daemon.uid, server->daemon.gid), 0);
        arguments[count++] = "--auth=scram-sha-256";
        arguments[count++] = secret_option;
    } else {
        arguments[count++] = "--auth=trust";
    }
    run(server, arguments);
}

/* ---- its life ---------------------------------------------------------------------------- */

static void launch_anywhere(struct test_postgres *server)
{
    for (int tries = 0; tries < 5; tries++) {
        server->port = test_daemon_port();
        if (launch_server(server))
            return;
    }
    test_daemon_show_log(&server->daemon);
    test_postgres_stop(server);
    fail_msg("the PostgreSQL server does not come up");
}

static void prepare(struct test_postgres *server, const char *password)
{
    memset(server, 0, sizeof *server);
    find_programs(server);
    (void)snprintf(server->password, sizeof server->password, "%s", password ? password : "");
    test_daemon_init(&server->daemon, "pawl-postgres");
    test_daemon_drop_root(&server->daemon);
    server->daemon.death_signal = SIGQUIT; /* with which its processes end, too */
}

void test_postgres_start(struct test_postgres *server, const char *password)
{
    prepare(server, password);
    make_cluster(server);
    launch_anywhere(server);
}

static void copy_cluster(struct test_postgres *standby, const struct test_postgres *primary)
{
    char program[160], data[96], port[16];
    const char *arguments[] = {program,
                               "-h",
                               "127.0.0.1",
                               "-p",
                               port,
                               "-U",
                               TEST_POSTGRES_USER,
                               "-D",
                               data,
                               "-R",
                               "-X",
                               "stream",
                               "--checkpoint=fast",
                               "--no-sync",
                               NULL};

    (void)snprintf(program, sizeof program, "%s/pg_basebackup", standby->bin);
    (void)snprintf(data, sizeof data, "%s/data", standby->daemon.folder);
    (void)snprintf(port, sizeof port, "%u", (unsigned)primary->port);
    run(standby, arguments);
}

void test_postgres_start_standby(struct test_postgres *standby, const struct test_postgres *primary)
{
    assert_string_equal(primary->password, "");
    prepare(standby, NULL);
    copy_cluster(standby, primary);
    launch_anywhere(standby);
}

void test_postgres_replace_by_standby(struct test_postgres *server,
                                      const struct test_postgres *primary)
{
    uint16_t port = server->port;

    assert_int_equal(server->daemon.pid, 0);
    test_daemon_release(&server->daemon);
    prepare(server, NULL);
    server->port = port;
    copy_cluster(server, primary);
    test_postgres_restart(server);
}

/*
 * Commits look at a flag that the checkpointer sets when it reads its settings again. A connection
 * that is opened after the request to do so is accepted after that was passed on, and a checkpoint
 * that it asks for begins with it.
 */
void test_postgres_require_standbys(const struct test_postgres *primary, bool required)
{
    test_postgres_sql(primary, required ? "ALTER SYSTEM SET synchronous_standby_names = '*'"
                                        : "ALTER SYSTEM RESET synchronous_standby_names");
    test_postgres_sql(primary, "SELECT pg_reload_conf()");
    test_postgres_sql(primary, "CHECKPOINT");
}

/* A transaction sees one state of the sessions, hence of the standbys, until it forgets that. */
void test_postgres_catch_up(const struct test_postgres *primary)
{
    test_postgres_sql(primary,
                      "DO $$ DECLARE lsn pg_lsn := pg_current_wal_lsn(); BEGIN WHILE EXISTS "
                      "(SELECT 1 FROM pg_stat_replication WHERE replay_lsn IS NULL OR "
                      "replay_lsn < lsn) OR NOT EXISTS (SELECT 1 FROM pg_stat_replication) "
                      "LOOP PERFORM pg_sleep(0.02), pg_stat_clear_snapshot(); END LOOP; END $$");
}

void test_postgres_promote(const struct test_postgres *standby)
{
    test_postgres_sql(standby, "DO $$ BEGIN IF NOT pg_promote(true, 60) THEN RAISE 'not promoted'; "
                               "END IF; END $$");
}

void test_postgres_stop(struct test_postgres *server)
{
    if (!*server->daemon.folder)
        return;
    test_postgres_continue(server);
    test_daemon_end(&server->daemon, SIGQUIT); /* the folder goes: nobody needs a checkpoint */
    test_daemon_release(&server->daemon);
}

void test_postgres_crash(struct test_postgres *server)
{
    test_daemon_end(&server->daemon, SIGQUIT);
}

void test_postgres_restart(struct test_postgres *server)
{
    assert_int_equal(server->daemon.pid, 0);
    if (!launch_server(server)) {
        test_daemon_show_log(&server->daemon);
        fail_msg("the PostgreSQL server does not come up again at port %u", (unsigned)server->port);
    }
}

/* The parent's pid, from /proc/PID/stat; 0 when it is gone. */
static pid_t parent_of(const char *pid)
{
    char path[300], text[512];
    const char *behind = NULL;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%s/stat", pid);
    file = fopen(path, "r");
    if (!file)
        return 0;
    if (fgets(text, sizeof text, file))
        behind = strrchr(text, ')'); /* the name before it may contain anything */
    (void)fclose(file);
    return behind && strlen(behind) > 4 ? (pid_t)strtol(behind + 4, NULL, 10) : 0;
}

/* Its processes are in sessions of their own: each is told alone. */
static size_t tell_children(const struct test_postgres *server, int signal_number, pid_t *told,
                            size_t max)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid <= 0 || parent_of(entry->d_name) != server->daemon.pid)
            continue;
        (void)kill(pid, signal_number);
        if (count < max)
            told[count++] = pid;
    }
    (void)closedir(folder);
    return count;
}

static void tell_all(const struct test_postgres *server, int signal_number)
{
    (void)kill(server->daemon.pid, signal_number);
    (void)tell_children(server, signal_number, NULL, 0);
}

void test_postgres_pause(const struct test_postgres *server)
{
    assert_true(server->daemon.pid > 0);
    tell_all(server, SIGSTOP);
}

void test_postgres_continue(const struct test_postgres *server)
{
    if (server->daemon.pid > 0)
        tell_all(server, SIGCONT);
}

static bool is_writer(pid_t pid)
{
    char path[64], title[64] = "";
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(title, sizeof title, file))
        title[0] = '\0';
    (void)fclose(file);
    return strstr(title, "walwriter") != NULL;
}

/* It may not have begun yet. */
void test_postgres_stall_writer(const struct test_postgres *server)
{
    pid_t children[CHILDREN_MAX];
    bool stalled = false;

    for (int looks = 0; looks < LOOKS_MAX && !stalled; looks++) {
        size_t count = tell_children(server, 0, children, CHILDREN_MAX);

        for (size_t i = 0; i < count && !stalled; i++)
            stalled = is_writer(children[i]) && kill(children[i], SIGSTOP) == 0;
        if (!stalled)
            (void)poll(NULL, 0, LOOK_MS);
    }
    assert_true(stalled);
}

/* While it stands still its processes stay its own, and it starts no others. The next server needs
 * them gone: they share memory. */
void test_postgres_kill(struct test_postgres *server)
{
    pid_t children[CHILDREN_MAX];
    size_t count;

    assert_true(server->daemon.pid > 0);
    (void)kill(server->daemon.pid, SIGSTOP);
    count = tell_children(server, SIGKILL, children, CHILDREN_MAX);
    (void)kill(server->daemon.pid, SIGKILL);
    test_daemon_end(&server->daemon, SIGKILL);
    for (size_t i = 0; i < count; i++)
        for (int looks = 0; looks < LOOKS_MAX && kill(children[i], 0) == 0; looks++)
            (void)poll(NULL, 0, LOOK_MS);
}

/* ---- using it ---------------------------------------------------------------------------- */

const char *test_postgres_uri(const struct test_postgres *server, const char *database, char *out,
                              size_t size)
{
    int length =
        snprintf(out, size, "postgres://%s%s%s@127.0.0.1:%u/%s", TEST_POSTGRES_USER,
                 *server->password ? ":" : "", server->password, (unsigned)server->port, database);

    assert_true(length > 0 && (size_t)length < size);
    return out;
}

void test_postgres_sql(const struct test_postgres *server, const char *sql)
{
    char program[160], uri[256];
    const char *arguments[] = {program, "-X", "-q", "-v", "ON_ERROR_STOP=1",
                               "-d",    uri,  "-c", sql,  NULL};

    (void)snprintf(program, sizeof program, "%s/psql", server->bin);
    (void)test_postgres_uri(server, "postgres", uri, sizeof uri);
    run(server, arguments);
}
