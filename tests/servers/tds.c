/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and telling the double of SQL Server; see tds.h. */
#include "servers/tds.h"

#include "lib/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 20000

void test_make_certificate(const char *folder, const char *name)
{
    char key[96], cert[96], names[128], out[2048];
    const char *arguments[] = {
        "openssl", "req",   "-x509", "-newkey", "rsa:2048",      "-nodes",  "-keyout", key, "-out",
        cert,      "-days", "30",    "-subj",   "/CN=pawl test", "-addext", names,     NULL};

    (void)snprintf(key, sizeof key, "%s/key.pem", folder);
    (void)snprintf(cert, sizeof cert, "%s/cert.pem", folder);
    (void)snprintf(names, sizeof names, "subjectAltName=%s", name);
    if (test_program_run(arguments, NULL, out, sizeof out) != 0)
        fail_msg("no certificate: apt-get install openssl\n%s", out);
}

static void open_control(struct test_tds *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    address.sin_port = htons(server->control_port);
    server->control = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(server->control >= 0);
    assert_int_equal(connect(server->control, (struct sockaddr *)&address, sizeof address), 0);
}

void test_tds_start(struct test_tds *server, enum test_tds_tls tls)
{
    static const char script[] = TEST_SERVERS_DIR "/tds/server.py";
    char line[64], key[96], *end;
    const char *arguments[10] = {"python3",     "-B",         script,           "--user",
                                 TEST_TDS_USER, "--password", TEST_TDS_PASSWORD};

    memset(server, 0, sizeof *server);
    test_program_folder(&server->program, "tds");
    if (tls != TEST_TDS_PLAIN) {
        test_make_certificate(server->program.daemon.folder, tls == TEST_TDS_TLS
                                                                 ? "DNS:localhost,IP:127.0.0.1"
                                                                 : "DNS:elsewhere.example");
        (void)snprintf(server->cert, sizeof server->cert, "%s/cert.pem",
                       server->program.daemon.folder);
        (void)snprintf(key, sizeof key, "%s/key.pem", server->program.daemon.folder);
        arguments[7] = "--tls";
        arguments[8] = server->cert;
        arguments[9] = key;
    }
    {
        const char *with_end[11] = {NULL};

        memcpy(with_end, arguments, sizeof arguments);
        test_program_start(&server->program, with_end, "apt-get install python3");
    }
    test_program_line(&server->program, line, sizeof line);
    assert_true(strncmp(line, "ready ", 6) == 0);
    server->port = (uint16_t)strtol(line + 6, &end, 10);
    server->control_port = (uint16_t)strtol(end, NULL, 10);
    open_control(server);
}

void test_tds_stop(struct test_tds *server)
{
    if (*server->program.daemon.folder)
        (void)close(server->control);
    test_program_stop(&server->program);
}

const char *test_tds_tell(struct test_tds *server, const char *format, ...)
{
    char command[1024];
    size_t length;
    va_list args;

    va_start(args, format);
    length = (size_t)vsnprintf(command, sizeof command - 1, format, args);
    va_end(args);
    assert_true(length < sizeof command - 1);
    command[length++] = '\n';
    assert_int_equal(send(server->control, command, length, MSG_NOSIGNAL), (ssize_t)length);
    for (length = 0;; length++) {
        struct pollfd fd = {.fd = server->control, .events = POLLIN};

        assert_true(length < sizeof server->answer);
        if (poll(&fd, 1, PATIENCE_MS) != 1 ||
            recv(server->control, server->answer + length, 1, 0) != 1) {
            test_daemon_show_log(&server->program.daemon);
            fail_msg("the double of SQL Server does not answer: %s", command);
        }
        if (server->answer[length] == '\n')
            break;
    }
    server->answer[length] = 0;
    if (strncmp(server->answer, "error", 5) == 0)
        fail_msg("the double of SQL Server: %s", server->answer);
    return server->answer;
}

const char *test_tds_uri(const struct test_tds *server, const char *options, char *out, size_t size)
{
    int length = snprintf(out, size, "sqlserver://sa:p%%40ss%%20word@127.0.0.1:%u/locks?%s%s%s%s",
                          (unsigned)server->port, *server->cert ? "trust=" : "encrypt=off",
                          server->cert, *options ? "&" : "", options);

    assert_true(length > 0 && (size_t)length < size);
    return out;
}
