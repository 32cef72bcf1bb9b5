/* SPDX-License-Identifier: Apache-2.0 */
/* A private PostgreSQL server, see postgres.h. */
#include "servers/postgres.h"

#include "lib/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX "pawl-postgres-"
/* How often somebody looks whether the server has come up or gone, and for how long. */
#define LOOK_MS 5
#define LOOKS_MAX 12000

#define ARGUMENTS_MAX 24

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

static void find_user(struct test_postgres *server)
{
    struct passwd *user = getpwnam("postgres");

    if (!user)
        user = getpwnam("nobody");
    if (!user) {
        fail_msg("neither a user postgres nor nobody, and PostgreSQL does not run as root");
        return;
    }
    server->uid = user->pw_uid;
    server->gid = user->pw_gid;
}

static uint16_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    (void)close(fd);
    return ntohs(address.sin_port);
}

/* ---- folders ----------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *at)
{
    (void)stat;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_folder(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* What programs left that were killed: their folder's name has their pid. */
static void remove_leftovers(void)
{
    DIR *folder = opendir("/tmp");
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        char path[300];
        pid_t pid;

        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        pid = (pid_t)strtol(entry->d_name + strlen(PREFIX), NULL, 10);
        if (pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH)
            continue;
        (void)snprintf(path, sizeof path, "/tmp/%s", entry->d_name);
        remove_folder(path);
    }
    if (folder)
        (void)closedir(folder);
}

/* The server's log, shown when it does not come up. */
static void show_log(const struct test_postgres *server)
{
    char path[96], line[512];
    FILE *log;

    (void)snprintf(path, sizeof path, "%s/log", server->folder);
    log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log))
        print_error("  %s", line);
    if (log)
        (void)fclose(log);
}

/* ---- processes --------------------------------------------------------------------------- */

/* In the child: becomes the server's user, writes to its log, dies with the test. */
static void become(const struct test_postgres *server, const char *const *arguments)
{
    char path[96];
    sigset_t none;
    int fd;

    (void)snprintf(path, sizeof path, "%s/log", server->folder);
    if (geteuid() == 0 &&
        (setgroups(0, NULL) != 0 || setgid(server->gid) != 0 || setuid(server->uid) != 0))
        _exit(126);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(125);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (chdir(server->folder) != 0)
        _exit(124);
    (void)execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

static pid_t launch(const struct test_postgres *server, const char *const *arguments)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        become(server, arguments);
    return pid;
}

static void run(const struct test_postgres *server, const char *const *arguments)
{
    pid_t pid = launch(server, arguments);
    int status = -1;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status == 0)
        return;
    show_log(server);
    fail_msg("%s failed (status %#x)", arguments[0], (unsigned)status);
}

/* The eighth line of postmaster.pid says it, and is written when connections are accepted. */
static bool is_ready(const struct test_postgres *server)
{
    char path[96], line[256];
    bool ready = false;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/data/postmaster.pid", server->folder);
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
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
            server->pid = 0;
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
    (void)snprintf(data, sizeof data, "%s/data", server->folder);
    (void)snprintf(port, sizeof port, "%u", (unsigned)server->port);
    (void)snprintf(socket_folder, sizeof socket_folder, "%s", server->folder);
    /* One that crashed has left it, and it may say "ready". */
    (void)snprintf(program, sizeof program, "%s/data/postmaster.pid", server->folder);
    (void)unlink(program);
    (void)snprintf(program, sizeof program, "%s/postgres", server->bin);
    server->pid = launch(server, arguments);
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
    (void)snprintf(data, sizeof data, "%s/data", server->folder);
    (void)snprintf(secret, sizeof secret, "%s/secret", server->folder);
    (void)snprintf(secret_option, sizeof secret_option, "--pwfile=%s", secret);
    if (*server->password) {
        file = fopen(secret, "w");
        assert_non_null(file);
        (void)fprintf(file, "%s\n", server->password);
        (void)fclose(file);
        if (geteuid() == 0)
            assert_int_equal(chown(secret, server->uid, server->gid), 0);
        arguments[count++] = "--auth=scram-sha-256";
        arguments[count++] = secret_option;
    } else {
        arguments[count++] = "--auth=trust";
    }
    run(server, arguments);
}

/* ---- its life ---------------------------------------------------------------------------- */

void test_postgres_start(struct test_postgres *server, const char *password)
{
    memset(server, 0, sizeof *server);
    find_programs(server);
    if (geteuid() == 0)
        find_user(server);
    remove_leftovers();
    (void)snprintf(server->password, sizeof server->password, "%s", password ? password : "");
    (void)snprintf(server->folder, sizeof server->folder, "/tmp/" PREFIX "%d-XXXXXX",
                   (int)getpid());
    assert_non_null(mkdtemp(server->folder));
    if (geteuid() == 0)
        assert_int_equal(chown(server->folder, server->uid, server->gid), 0);
    make_cluster(server);
    for (int tries = 0; tries < 5; tries++) {
        server->port = free_port();
        if (launch_server(server))
            return;
    }
    show_log(server);
    test_postgres_stop(server);
    fail_msg("the PostgreSQL server does not come up");
}

static void end_by(struct test_postgres *server, int signal_number)
{
    if (server->pid <= 0)
        return;
    (void)kill(server->pid, SIGCONT);
    (void)kill(server->pid, signal_number);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    server->pid = 0;
}

void test_postgres_stop(struct test_postgres *server)
{
    if (!*server->folder)
        return;
    test_postgres_continue(server);
    end_by(server, SIGQUIT); /* the folder goes: nobody needs a checkpoint */
    remove_folder(server->folder);
    *server->folder = 0;
}

void test_postgres_crash(struct test_postgres *server)
{
    end_by(server, SIGQUIT);
}

void test_postgres_restart(struct test_postgres *server)
{
    assert_int_equal(server->pid, 0);
    if (!launch_server(server)) {
        show_log(server);
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
static void tell_all(const struct test_postgres *server, int signal_number)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;

    assert_non_null(folder);
    (void)kill(server->pid, signal_number);
    while ((entry = readdir(folder)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            parent_of(entry->d_name) == server->pid)
            (void)kill((pid_t)strtol(entry->d_name, NULL, 10), signal_number);
    (void)closedir(folder);
}

void test_postgres_pause(const struct test_postgres *server)
{
    assert_true(server->pid > 0);
    tell_all(server, SIGSTOP);
}

void test_postgres_continue(const struct test_postgres *server)
{
    if (server->pid > 0)
        tell_all(server, SIGCONT);
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
