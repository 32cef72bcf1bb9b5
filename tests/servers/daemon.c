/* SPDX-License-Identifier: Apache-2.0 */
/* Private servers of tests, see daemon.h. */
#include "servers/daemon.h"

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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often somebody looks whether the server has come up, and for how long. */
#define LOOK_MS 10
#define LOOKS_MAX 12000
/* The least that a server is given. */
#define PORT_FIRST 10000

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
static void remove_leftovers(const char *prefix)
{
    const char *above = test_fast_folder();
    DIR *folder = opendir(above);
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        char path[300];
        pid_t pid;

        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        pid = (pid_t)strtol(entry->d_name + strlen(prefix) + 1, NULL, 10);
        if (pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", above, entry->d_name);
        remove_folder(path);
    }
    if (folder)
        (void)closedir(folder);
}

void test_daemon_init(struct test_daemon *daemon, const char *prefix)
{
    memset(daemon, 0, sizeof *daemon);
    remove_leftovers(prefix);
    (void)snprintf(daemon->folder, sizeof daemon->folder, "%s/%s-%d-XXXXXX", test_fast_folder(),
                   prefix, (int)getpid());
    assert_non_null(mkdtemp(daemon->folder));
}

void test_daemon_drop_root(struct test_daemon *daemon)
{
    struct passwd *user = getpwnam("postgres");

    if (geteuid() != 0)
        return;
    if (!user)
        user = getpwnam("nobody");
    if (!user) {
        fail_msg("neither a user postgres nor nobody, and this server does not run as root");
        return;
    }
    daemon->uid = user->pw_uid;
    daemon->gid = user->pw_gid;
    assert_int_equal(chown(daemon->folder, daemon->uid, daemon->gid), 0);
}

/* Where the system's own choices begin. */
static uint16_t first_ephemeral_port(void)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
    unsigned first = 0;

    if (!file || fscanf(file, "%u", &first) != 1 || first < 2 * PORT_FIRST || first > UINT16_MAX)
        first = 32768;
    if (file)
        (void)fclose(file);
    return (uint16_t)first;
}

static bool is_free(uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_bound;

    assert_true(fd >= 0);
    is_bound = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    (void)close(fd);
    return is_bound;
}

uint16_t test_daemon_port(void)
{
    uint16_t end = first_ephemeral_port(), port;

    do {
        uint32_t number;

        assert_int_equal(getentropy(&number, sizeof number), 0);
        port = (uint16_t)(PORT_FIRST + number % (uint32_t)(end - PORT_FIRST));
    } while (!is_free(port));
    return port;
}

const char *test_daemon_program(const char *const *paths, const char *package)
{
    for (; *paths; paths++)
        if (access(*paths, X_OK) == 0)
            return *paths;
    fail_msg("missing server: apt-get install %s", package);
    return "";
}

/* In the child: becomes the server's user, writes to its log, dies with the test. */
static void become(const struct test_daemon *daemon, const char *const *arguments)
{
    char path[96];
    sigset_t none;
    int fd;

    (void)snprintf(path, sizeof path, "%s/log", daemon->folder);
    if (daemon->uid != 0 &&
        (setgroups(0, NULL) != 0 || setgid(daemon->gid) != 0 || setuid(daemon->uid) != 0))
        _exit(126);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(125);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)prctl(PR_SET_PDEATHSIG, daemon->death_signal ? daemon->death_signal : SIGKILL);
    if (chdir(daemon->folder) != 0)
        _exit(124);
    (void)execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

void test_daemon_launch(struct test_daemon *daemon, const char *const *arguments)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        become(daemon, arguments);
    daemon->pid = pid;
}

static bool is_listening(uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool listening = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;

    if (fd >= 0)
        (void)close(fd);
    return listening;
}

bool test_daemon_comes_up(struct test_daemon *daemon, uint16_t port)
{
    for (int looks = 0; looks < LOOKS_MAX; looks++) {
        if (waitpid(daemon->pid, NULL, WNOHANG) == daemon->pid) {
            daemon->pid = 0;
            return false;
        }
        if (is_listening(port))
            return true;
        (void)poll(NULL, 0, LOOK_MS);
    }
    return false;
}

void test_daemon_show_log(const struct test_daemon *daemon)
{
    char path[96], line[512];
    FILE *log;

    (void)snprintf(path, sizeof path, "%s/log", daemon->folder);
    log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log))
        print_error("  %s", line);
    if (log)
        (void)fclose(log);
}

void test_daemon_end(struct test_daemon *daemon, int signal_number)
{
    if (daemon->pid <= 0)
        return;
    (void)kill(daemon->pid, SIGCONT);
    (void)kill(daemon->pid, signal_number);
    while (waitpid(daemon->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    daemon->pid = 0;
}

void test_daemon_release(struct test_daemon *daemon)
{
    if (*daemon->folder)
        remove_folder(daemon->folder);
    *daemon->folder = 0;
}
