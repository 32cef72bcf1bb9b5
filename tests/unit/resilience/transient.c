/* SPDX-License-Identifier: Apache-2.0 */
/* Row by row what each driver's codes mean, and that the dangerous ones are never retried blindly.
 */
#include "resilience/transient.h"
#include "lib/test.h"

#include <errno.h>

struct number_case {
    int number;
    const char *code;
    const char *code_sent; /* NULL: the same */
};

static void check(int code, const char *expected, const char *source, int number, bool sent)
{
    if (strcmp(pawl_error_name(code) + 5, expected) != 0)
        fail_msg("%s %d%s: %s, expected PAWL_%s", source, number, sent ? " (sent)" : "",
                 pawl_error_name(code), expected);
}

static void check_all(const char *source, int (*code_of)(int, bool),
                      const struct number_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *after = cases[i].code_sent ? cases[i].code_sent : cases[i].code;

        check(code_of(cases[i].number, false), cases[i].code, source, cases[i].number, false);
        check(code_of(cases[i].number, true), after, source, cases[i].number, true);
    }
}
#define CHECK_ALL(source, code_of, cases)                                                          \
    check_all(source, code_of, cases, sizeof(cases) / sizeof(cases)[0])

static void sqlstates(void **state)
{
    static const struct {
        const char *state, *code, *code_sent;
    } cases[] = {
        {"00000", "OK", NULL},
        {"", "EUNAVAILABLE", "EUNKNOWN"},
        {"08000", "EUNAVAILABLE", "EUNKNOWN"},
        {"08001", "EUNAVAILABLE", "EUNAVAILABLE"},
        {"08003", "EUNAVAILABLE", "EUNKNOWN"},
        {"08004", "EUNAVAILABLE", NULL},
        {"08006", "EUNAVAILABLE", "EUNKNOWN"},
        {"08007", "EUNKNOWN", NULL},
        {"08P01", "EINTERNAL", NULL},
        {"0A000", "EUNSUPPORTED", NULL},
        {"21000", "EINVAL", NULL},
        {"22001", "ELIMIT", NULL},
        {"22003", "EINVAL", NULL},
        {"22021", "EINVAL", NULL},
        {"23502", "ECONFLICT", NULL},
        {"23503", "ECONFLICT", NULL},
        {"23505", "EEXISTS", NULL},
        {"23514", "EINVAL", NULL},
        {"25006", "EUNAVAILABLE", NULL},
        {"25P02", "EINTERNAL", NULL},
        {"25P03", "EUNAVAILABLE", NULL},
        {"28000", "EPERM", NULL},
        {"28P01", "EPERM", NULL},
        {"3D000", "ENOTFOUND", NULL},
        {"3F000", "ENOTFOUND", NULL},
        {"40000", "EBUSY", NULL},
        {"40001", "EBUSY", NULL},
        {"40002", "ECONFLICT", NULL},
        {"40003", "EUNKNOWN", NULL},
        {"40P01", "EBUSY", NULL},
        {"42501", "EPERM", NULL},
        {"42601", "EINTERNAL", NULL},
        {"42P01", "ENOTFOUND", NULL},
        {"42P07", "EEXISTS", NULL},
        {"53000", "EUNAVAILABLE", NULL},
        {"53100", "EUNAVAILABLE", NULL},
        {"53200", "EUNAVAILABLE", NULL},
        {"53300", "EUNAVAILABLE", NULL},
        {"54000", "ELIMIT", NULL},
        {"55006", "EBUSY", NULL},
        {"55P03", "EBUSY", NULL},
        {"57014", "ETIMEDOUT", NULL},
        {"57P01", "EUNAVAILABLE", "EUNKNOWN"},
        {"57P02", "EUNAVAILABLE", "EUNKNOWN"},
        {"57P03", "EUNAVAILABLE", NULL},
        {"57P04", "EUNAVAILABLE", "EUNKNOWN"},
        {"57P05", "EUNAVAILABLE", "EUNKNOWN"},
        {"58030", "EIO", NULL},
        {"72000", "EBUSY", NULL},
        {"XX000", "EINTERNAL", NULL},
        {"XX001", "ECORRUPT", NULL},
        {"XX002", "ECORRUPT", NULL},
        {"99999", "EINTERNAL", "EUNKNOWN"},
        {"40", "EBUSY", NULL},
        {"4", "EINTERNAL", "EUNKNOWN"},
        {"40001x", "EINTERNAL", "EUNKNOWN"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_str text = pawl__str(cases[i].state);
        const char *after = cases[i].code_sent ? cases[i].code_sent : cases[i].code;

        check(pawl__code_of_sqlstate(text, false), cases[i].code, cases[i].state, (int)i, false);
        check(pawl__code_of_sqlstate(text, true), after, cases[i].state, (int)i, true);
    }
}

static void sqlserver_numbers(void **state)
{
    static const struct number_case cases[] = {
        {0, "OK", NULL},
        {-2, "ETIMEDOUT", "EUNKNOWN"},
        {64, "EUNAVAILABLE", "EUNKNOWN"},
        {121, "ETIMEDOUT", "EUNKNOWN"},
        {208, "ENOTFOUND", NULL},
        {229, "EPERM", NULL},
        {233, "EUNAVAILABLE", "EUNKNOWN"},
        {262, "EPERM", NULL},
        {297, "EPERM", NULL},
        {547, "ECONFLICT", NULL},
        {596, "EUNAVAILABLE", "EUNKNOWN"},
        {615, "EUNAVAILABLE", NULL},
        {701, "EUNAVAILABLE", NULL},
        {802, "EUNAVAILABLE", NULL},
        {823, "EIO", NULL},
        {824, "ECORRUPT", NULL},
        {911, "ENOTFOUND", NULL},
        {916, "EPERM", NULL},
        {921, "EUNAVAILABLE", NULL},
        {922, "EUNAVAILABLE", NULL},
        {926, "ECORRUPT", NULL},
        {983, "EUNAVAILABLE", NULL},
        {1105, "EUNAVAILABLE", NULL},
        {1204, "EUNAVAILABLE", NULL},
        {1205, "EBUSY", NULL},
        {1222, "EBUSY", NULL},
        {2601, "EEXISTS", NULL},
        {2627, "EEXISTS", NULL},
        {2628, "ELIMIT", NULL},
        {2714, "EEXISTS", NULL},
        {2812, "ENOTFOUND", NULL},
        {3906, "EUNAVAILABLE", NULL},
        {3960, "EBUSY", NULL},
        {4060, "EUNAVAILABLE", NULL},
        {4221, "EUNAVAILABLE", NULL},
        {6005, "EUNAVAILABLE", NULL},
        {8115, "EINVAL", NULL},
        {8152, "ELIMIT", NULL},
        {8645, "EUNAVAILABLE", NULL},
        {8651, "EUNAVAILABLE", NULL},
        {9002, "EUNAVAILABLE", NULL},
        {10053, "EUNAVAILABLE", "EUNKNOWN"},
        {10054, "EUNAVAILABLE", "EUNKNOWN"},
        {10060, "ETIMEDOUT", "EUNKNOWN"},
        {10061, "EUNAVAILABLE", NULL},
        {10928, "EUNAVAILABLE", NULL},
        {10929, "EUNAVAILABLE", NULL},
        {10936, "EUNAVAILABLE", NULL},
        {14906, "EUNAVAILABLE", NULL},
        {17142, "EUNAVAILABLE", NULL},
        {18401, "EUNAVAILABLE", NULL},
        {18456, "EPERM", NULL},
        {18486, "EPERM", NULL},
        {20002, "EUNAVAILABLE", NULL},
        {20003, "ETIMEDOUT", "EUNKNOWN"},
        {20004, "EUNAVAILABLE", "EUNKNOWN"},
        {20006, "EUNAVAILABLE", "EUNKNOWN"},
        {20009, "EUNAVAILABLE", NULL},
        {20014, "EPERM", NULL},
        {20017, "EUNAVAILABLE", "EUNKNOWN"},
        {20047, "EUNAVAILABLE", "EUNKNOWN"},
        {40143, "EUNAVAILABLE", "EUNKNOWN"},
        {40197, "EUNAVAILABLE", "EUNKNOWN"},
        {40501, "EUNAVAILABLE", NULL},
        {40540, "EUNAVAILABLE", NULL},
        {40544, "EUNAVAILABLE", NULL},
        {40549, "EUNAVAILABLE", NULL},
        {40550, "EUNAVAILABLE", NULL},
        {40613, "EUNAVAILABLE", NULL},
        {41301, "EBUSY", NULL},
        {41302, "EBUSY", NULL},
        {41305, "EBUSY", NULL},
        {41325, "EBUSY", NULL},
        {41839, "EBUSY", NULL},
        {49918, "EUNAVAILABLE", NULL},
        {49919, "EUNAVAILABLE", NULL},
        {49920, "EUNAVAILABLE", NULL},
        {4711, "EINTERNAL", "EUNKNOWN"},
    };

    (void)state;
    CHECK_ALL("SQL Server", pawl__code_of_sqlserver, cases);
}

static int applock(int answer, bool sent)
{
    (void)sent;
    return pawl__code_of_applock(answer);
}

static void applock_answers(void **state)
{
    static const struct number_case cases[] = {
        {0, "OK", NULL},         {1, "OK", NULL},          {7, "OK", NULL},
        {-1, "ETIMEDOUT", NULL}, {-2, "ECANCELLED", NULL}, {-3, "EBUSY", NULL},
        {-999, "EINVAL", NULL},  {-4, "EINTERNAL", NULL},
    };

    (void)state;
    CHECK_ALL("sp_getapplock", applock, cases);
}

static void errnos(void **state)
{
    static const struct number_case cases[] = {
        {ECONNREFUSED, "EUNAVAILABLE", NULL},
        {EADDRNOTAVAIL, "EUNAVAILABLE", NULL},
        {EMFILE, "EUNAVAILABLE", NULL},
        {ENFILE, "EUNAVAILABLE", NULL},
        {ENOENT, "EUNAVAILABLE", NULL},
        {EACCES, "EPERM", NULL},
        {EPERM, "EPERM", NULL},
        {EAFNOSUPPORT, "EUNSUPPORTED", NULL},
        {EPROTONOSUPPORT, "EUNSUPPORTED", NULL},
        {ECONNRESET, "EUNAVAILABLE", "EUNKNOWN"},
        {ECONNABORTED, "EUNAVAILABLE", "EUNKNOWN"},
        {EPIPE, "EUNAVAILABLE", "EUNKNOWN"},
        {ENOTCONN, "EUNAVAILABLE", "EUNKNOWN"},
        {ESHUTDOWN, "EUNAVAILABLE", "EUNKNOWN"},
        {ENETDOWN, "EUNAVAILABLE", "EUNKNOWN"},
        {ENETUNREACH, "EUNAVAILABLE", "EUNKNOWN"},
        {ENETRESET, "EUNAVAILABLE", "EUNKNOWN"},
        {EHOSTDOWN, "EUNAVAILABLE", "EUNKNOWN"},
        {EHOSTUNREACH, "EUNAVAILABLE", "EUNKNOWN"},
        {ENOBUFS, "EUNAVAILABLE", "EUNKNOWN"},
        {EAGAIN, "ETIMEDOUT", "EUNKNOWN"},
        {ETIMEDOUT, "ETIMEDOUT", "EUNKNOWN"},
        {EINTR, "EUNAVAILABLE", "EUNKNOWN"},
        {ENOMEM, "ENOMEM", "EUNKNOWN"},
        {EBADF, "EINTERNAL", NULL},
        {EFAULT, "EINTERNAL", NULL},
        {ENOTSOCK, "EINTERNAL", NULL},
        {EIO, "EIO", "EUNKNOWN"},
    };

    (void)state;
    CHECK_ALL("errno", pawl__code_of_errno, cases);
}

static int http(int http_status, bool sent)
{
    (void)sent;
    return pawl__code_of_http(http_status);
}

static void http_statuses(void **state)
{
    static const struct number_case cases[] = {
        {100, "OK", NULL},           {200, "OK", NULL},           {204, "OK", NULL},
        {302, "OK", NULL},           {399, "OK", NULL},           {400, "EINVAL", NULL},
        {401, "EPERM", NULL},        {402, "EPERM", NULL},        {403, "EPERM", NULL},
        {404, "ENOTFOUND", NULL},    {405, "EUNSUPPORTED", NULL}, {406, "EUNSUPPORTED", NULL},
        {407, "EPERM", NULL},        {408, "ETIMEDOUT", NULL},    {409, "ECONFLICT", NULL},
        {410, "ENOTFOUND", NULL},    {412, "ECONFLICT", NULL},    {413, "ELIMIT", NULL},
        {414, "ELIMIT", NULL},       {415, "EUNSUPPORTED", NULL}, {418, "EINVAL", NULL},
        {421, "EUNAVAILABLE", NULL}, {422, "EINVAL", NULL},       {423, "EBUSY", NULL},
        {425, "EUNAVAILABLE", NULL}, {428, "ECONFLICT", NULL},    {429, "EBUSY", NULL},
        {431, "ELIMIT", NULL},       {451, "EPERM", NULL},        {500, "EUNKNOWN", NULL},
        {501, "EUNSUPPORTED", NULL}, {502, "EUNKNOWN", NULL},     {503, "EUNAVAILABLE", NULL},
        {504, "EUNKNOWN", NULL},     {505, "EUNSUPPORTED", NULL}, {507, "EUNAVAILABLE", NULL},
        {511, "EPERM", NULL},        {599, "EUNKNOWN", NULL},     {0, "EUNKNOWN", NULL},
        {99, "EUNKNOWN", NULL},      {1000, "EUNKNOWN", NULL},
    };

    (void)state;
    CHECK_ALL("HTTP", http, cases);
}

static void redis_replies(void **state)
{
    static const struct {
        const char *message, *code;
    } cases[] = {
        {"ERR max number of clients reached", "EUNAVAILABLE"},
        {"ERR invalid password", "EPERM"},
        {"ERR unknown command 'X', with args", "EUNSUPPORTED"},
        {"ERR unknown command", "EUNSUPPORTED"},
        {"ERR unknown command `X`", "EUNSUPPORTED"},
        {"ERR no such key", "ENOTFOUND"},
        {"ERR wrong number of arguments", "EINVAL"},
        {"ASK 3999 127.0.0.1:6381", "EUNAVAILABLE"},
        {"BUSY Redis is busy running a script", "EBUSY"},
        {"-BUSY Redis is busy running a script", "EBUSY"},
        {"BUSYGROUP Consumer Group name already exists", "EEXISTS"},
        {"BUSYKEY Target key name already exists.", "EEXISTS"},
        {"CLUSTERDOWN The cluster is down", "EUNAVAILABLE"},
        {"CROSSSLOT Keys in request", "EINVAL"},
        {"EXECABORT Transaction discarded", "ECONFLICT"},
        {"INPROG Failover already in progress", "EBUSY"},
        {"LOADING Redis is loading", "EUNAVAILABLE"},
        {"MASTERDOWN Link with MASTER is down", "EUNAVAILABLE"},
        {"MISCONF Redis is configured to save", "EUNAVAILABLE"},
        {"MOVED 3999 127.0.0.1:6381", "EUNAVAILABLE"},
        {"NOAUTH Authentication required.", "EPERM"},
        {"NOGROUP No such key", "ENOTFOUND"},
        {"NOGOODSLAVE No suitable replica", "EUNAVAILABLE"},
        {"NOPERM this user", "EPERM"},
        {"NOREPLICAS Not enough good replicas to write.", "EUNAVAILABLE"},
        {"NOSCRIPT No matching script.", "ENOTFOUND"},
        {"NOTBUSY No scripts in execution right now.", "ECONFLICT"},
        {"OOM command not allowed when used memory > 'maxmemory'.", "EUNAVAILABLE"},
        {"READONLY You can't write against a read only replica.", "EUNAVAILABLE"},
        {"TRYAGAIN Multiple keys request during rehashing of slot", "EBUSY"},
        {"UNBLOCKED force unblock from blocking operation", "EUNAVAILABLE"},
        {"UNKILLABLE Sorry the script already executed writes", "EBUSY"},
        {"WRONGPASS invalid username-password pair", "EPERM"},
        {"WRONGTYPE Operation against a key", "ECONFLICT"},
        {"BUSYNESS is none of them", "EINTERNAL"},
        {"READONLY", "EUNAVAILABLE"},
        {"", "EINTERNAL"},
        {"-", "EINTERNAL"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(pawl__code_of_redis(pawl__str(cases[i].message)), cases[i].code, cases[i].message,
              (int)i, false);
}

static int sqlite(int number, bool sent)
{
    (void)sent;
    return pawl__code_of_sqlite(number);
}

static void sqlite_codes(void **state)
{
    static const struct number_case cases[] = {
        {0, "OK", NULL},          {1, "EINTERNAL", NULL},     {2, "EINTERNAL", NULL},
        {3, "EPERM", NULL},       {4, "ECANCELLED", NULL},    {5, "EBUSY", NULL},
        {6, "EBUSY", NULL},       {7, "ENOMEM", NULL},        {8, "EPERM", NULL},
        {9, "ETIMEDOUT", NULL},   {10, "EIO", NULL},          {11, "ECORRUPT", NULL},
        {12, "EINTERNAL", NULL},  {13, "EUNAVAILABLE", NULL}, {14, "ENOTFOUND", NULL},
        {15, "EBUSY", NULL},      {17, "EBUSY", NULL},        {18, "ELIMIT", NULL},
        {19, "ECONFLICT", NULL},  {20, "EINVAL", NULL},       {21, "EINTERNAL", NULL},
        {22, "ELIMIT", NULL},     {23, "EPERM", NULL},        {25, "EINTERNAL", NULL},
        {26, "ECORRUPT", NULL},   {100, "OK", NULL},          {101, "OK", NULL},
        {261, "EBUSY", NULL}, /* BUSY_RECOVERY */
        {517, "EBUSY", NULL}, /* BUSY_SNAPSHOT */
        {773, "EBUSY", NULL}, /* BUSY_TIMEOUT */
        {262, "EBUSY", NULL}, /* LOCKED_SHAREDCACHE */
        {270, "EINVAL", NULL},    {526, "EINVAL", NULL},      {1032, "EIO", NULL},
        {1034, "EIO", NULL}, /* IOERR_FSYNC */
        {1555, "EEXISTS", NULL},  {2067, "EEXISTS", NULL},    {2579, "EEXISTS", NULL},
        {787, "ECONFLICT", NULL}, /* CONSTRAINT_FOREIGNKEY */
        {2826, "EBUSY", NULL},    {3082, "ENOMEM", NULL},     {3338, "EPERM", NULL},
        {8458, "ECORRUPT", NULL}, {8714, "ECORRUPT", NULL},   {267, "ECORRUPT", NULL},
        {16, "EINTERNAL", NULL},  {99, "EINTERNAL", NULL},    {-1, "EINTERNAL", NULL},
    };

    (void)state;
    CHECK_ALL("SQLite", sqlite, cases);
}

static void curl_codes(void **state)
{
    static const struct number_case cases[] = {
        {0, "OK", NULL},
        {1, "EUNSUPPORTED", NULL},
        {2, "EINTERNAL", NULL},
        {3, "EINVAL", NULL},
        {4, "EUNSUPPORTED", NULL},
        {5, "EUNAVAILABLE", NULL},
        {6, "EUNAVAILABLE", NULL},
        {7, "EUNAVAILABLE", NULL},
        {8, "EUNAVAILABLE", "EUNKNOWN"},
        {9, "EPERM", NULL},
        {16, "EUNAVAILABLE", "EUNKNOWN"},
        {18, "EUNAVAILABLE", "EUNKNOWN"},
        {22, "EUNAVAILABLE", "EUNKNOWN"},
        {23, "EIO", "EUNKNOWN"},
        {26, "EIO", "EUNKNOWN"},
        {27, "ENOMEM", "EUNKNOWN"},
        {28, "ETIMEDOUT", "EUNKNOWN"},
        {35, "EUNAVAILABLE", NULL},
        {42, "ECANCELLED", "EUNKNOWN"},
        {43, "EINTERNAL", NULL},
        {47, "ELIMIT", NULL},
        {52, "EUNAVAILABLE", "EUNKNOWN"},
        {55, "EUNAVAILABLE", "EUNKNOWN"},
        {56, "EUNAVAILABLE", "EUNKNOWN"},
        {58, "EINVAL", NULL},
        {59, "EUNSUPPORTED", NULL},
        {60, "EPERM", NULL},
        {61, "EUNAVAILABLE", "EUNKNOWN"},
        {63, "ELIMIT", "EUNKNOWN"},
        {65, "EUNAVAILABLE", "EUNKNOWN"},
        {67, "EPERM", NULL},
        {77, "EINVAL", NULL},
        {80, "EUNAVAILABLE", "EUNKNOWN"},
        {81, "EUNAVAILABLE", "EUNKNOWN"},
        {92, "EUNAVAILABLE", "EUNKNOWN"},
        {95, "EUNAVAILABLE", "EUNKNOWN"},
        {96, "EUNAVAILABLE", NULL},
        {98, "EINTERNAL", "EUNKNOWN"},
    };

    (void)state;
    CHECK_ALL("curl", pawl__code_of_curl, cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sqlstates),       cmocka_unit_test(sqlserver_numbers),
        cmocka_unit_test(applock_answers), cmocka_unit_test(errnos),
        cmocka_unit_test(http_statuses),   cmocka_unit_test(redis_replies),
        cmocka_unit_test(sqlite_codes),    cmocka_unit_test(curl_codes),
    };

    return cmocka_run_group_tests_name("resilience/transient", tests, NULL, NULL);
}
