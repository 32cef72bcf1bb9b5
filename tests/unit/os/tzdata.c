/* SPDX-License-Identifier: Apache-2.0 */
#include "os/tzdata.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FROM_S INT64_C(-2208988800) /* 1900-01-01 */
#define TO_S INT64_C(7258118400)    /* 2200-01-01 */

static int without_variables(void **state)
{
    (void)state;
    return unsetenv("TZ") || unsetenv("TZDIR");
}

static void skip_without_database(void)
{
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0) {
        print_message("skipped: no time zone database\n");
        skip();
    }
}

static struct pawl_timezone *load(struct test_allocator *alloc, const char *name)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_timezone *zone = NULL;

    assert_ok(pawl__tzdata_load(&alloc->base, pawl__str(name), &zone, &err), &err);
    return zone;
}

static void assert_like_libc(const struct pawl_timezone *zone, int64_t unix_s)
{
    struct pawl_timezone_info info = pawl__timezone_at(zone, unix_s);
    time_t t = (time_t)unix_s;
    struct tm tm;

    assert_non_null(localtime_r(&t, &tm));
    if (info.offset_s != tm.tm_gmtoff || info.is_dst != (tm.tm_isdst > 0) ||
        strcmp(info.abbreviation, tm.tm_zone) != 0)
        fail_msg("%s at %lld: %d %d %s, the C library says %ld %d %s", pawl__timezone_name(zone),
                 (long long)unix_s, info.offset_s, info.is_dst, info.abbreviation, tm.tm_gmtoff,
                 tm.tm_isdst, tm.tm_zone);
}

static void agrees_with_the_c_library(void **state)
{
    static const char *const names[] = {
        "Europe/Berlin", "Europe/Dublin",     "America/New_York",  "Australia/Lord_Howe",
        "Asia/Kolkata",  "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia",
        "America/Nuuk",  "Asia/Gaza",         "Antarctica/Troll",  "UTC",
    };
    uint64_t random = 1;

    (void)state;
    skip_without_database();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct test_allocator alloc;
        struct pawl_timezone *zone;
        int64_t t = FROM_S;

        test_allocator_init(&alloc);
        zone = load(&alloc, names[i]);
        assert_int_equal(setenv("TZ", names[i], 1), 0);
        tzset();
        for (int j = 0; j < 5000; j++)
            assert_like_libc(zone, FROM_S + (int64_t)(test_random(&random) % (TO_S - FROM_S)));
        /* And the second before and at each transition, where mistakes are. */
        while (pawl__timezone_next_transition(zone, t, &t) && t < TO_S) {
            assert_like_libc(zone, t - 1);
            assert_like_libc(zone, t);
        }
        pawl__timezone_free(zone);
        assert_int_equal(alloc.live_count, 0);
        assert_int_equal(unsetenv("TZ"), 0);
    }
}

/* The instants with a given reading, found by looking at all offsets of the days around. */
static void local_times_are_the_inverse_of_offsets(void **state)
{
    static const char *const names[] = {"Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia",
                                        "America/Sao_Paulo"};
    uint64_t random = 2;

    (void)state;
    skip_without_database();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct test_allocator alloc;
        struct pawl_timezone *zone;
        int64_t t = FROM_S;

        test_allocator_init(&alloc);
        zone = load(&alloc, names[i]);
        while (pawl__timezone_next_transition(zone, t, &t) && t < TO_S) {
            for (int j = 0; j < 20; j++) {
                /* A reading within two hours of the jump, on either side's clock. */
                int64_t near = t + (int64_t)(test_random(&random) % 14400) - 7200;
                int64_t local = near + pawl__timezone_at(zone, t - (j % 2)).offset_s;
                struct pawl_local found = pawl__timezone_from_local(zone, local);
                int32_t before = pawl__timezone_at(zone, t - 1).offset_s;
                int32_t after = pawl__timezone_at(zone, t).offset_s;
                bool in_old = local - before < t, in_new = local - after >= t;

                assert_int_equal(found.kind, in_old && in_new   ? PAWL_LOCAL_OVERLAP
                                             : in_old || in_new ? PAWL_LOCAL_UNIQUE
                                                                : PAWL_LOCAL_GAP);
                if (found.kind != PAWL_LOCAL_UNIQUE)
                    assert_true(found.transition_s == t);
                if (found.kind != PAWL_LOCAL_GAP) {
                    assert_true(found.earlier_s +
                                    pawl__timezone_at(zone, found.earlier_s).offset_s ==
                                local);
                    assert_true(found.later_s + pawl__timezone_at(zone, found.later_s).offset_s ==
                                local);
                } else {
                    assert_true(found.earlier_s < t && found.later_s >= t);
                }
            }
        }
        pawl__timezone_free(zone);
    }
}

static void apia_skipped_a_whole_day(void **state)
{
    struct test_allocator alloc;
    struct pawl_timezone *zone;
    struct pawl_local found;

    (void)state;
    skip_without_database();
    test_allocator_init(&alloc);
    zone = load(&alloc, "Pacific/Apia");
    found = pawl__timezone_from_local(zone, INT64_C(1325246400)); /* 2011-12-30T12:00 */
    assert_int_equal(found.kind, PAWL_LOCAL_GAP);
    assert_int_equal(found.later_s - found.earlier_s, 86400);
    assert_true(found.transition_s == INT64_C(1325239200)); /* 2011-12-30T10:00Z */
    pawl__timezone_free(zone);
}

static void reads_every_zone_of_the_system(void **state)
{
    FILE *list = fopen("/usr/share/zoneinfo/tzdata.zi", "r");
    struct test_allocator alloc;
    char line[512], name[128];
    int count = 0;

    (void)state;
    if (!list) {
        print_message("skipped: no list of zones\n");
        skip();
    }
    test_allocator_init(&alloc);
    while (fgets(line, sizeof line, list)) {
        struct pawl_timezone *zone;

        if (sscanf(line, "Z %127s", name) != 1 && sscanf(line, "L %*s %127s", name) != 1)
            continue;
        zone = load(&alloc, name);
        assert_in_range(pawl__timezone_at(zone, 0).offset_s + 86400, 0, 2 * 86400);
        pawl__timezone_free(zone);
        count++;
    }
    assert_int_equal(fclose(list), 0);
    assert_true(count > 300);
    assert_int_equal(alloc.live_count, 0);
}

static void refuses_names_that_could_leave_the_folder(void **state)
{
    static const char *const names[] = {
        "",        "/etc/passwd",     "../../etc/passwd",  "Europe/../../../etc/passwd",
        "Europe/", "/Europe/Berlin",  "Europe//Berlin",    "Europe/.",
        ".",       "Europe/Berlin\n", "Europe/B\xC3\xA4r", "Europe Berlin",
    };
    struct test_allocator alloc;
    char giant[300];

    (void)state;
    test_allocator_init(&alloc);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pawl_timezone *zone = NULL;

        assert_code(pawl__tzdata_load(&alloc.base, pawl__str(names[i]), &zone, NULL), PAWL_EINVAL);
        assert_null(zone);
    }
    memset(giant, 'x', sizeof giant);
    assert_code(pawl__tzdata_load(&alloc.base, pawl__str_make(giant, sizeof giant),
                                  &(struct pawl_timezone *){NULL}, NULL),
                PAWL_EINVAL);
}

static void says_what_is_missing(void **state)
{
    struct test_allocator alloc;
    struct pawl_timezone *zone = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    test_allocator_init(&alloc);
    assert_int_equal(setenv("TZDIR", "/nonexistent", 1), 0);
    assert_code(pawl__tzdata_load(&alloc.base, pawl__str("Europe/Berlin"), &zone, &err),
                PAWL_EMISSING);
    assert_non_null(strstr(err.msg, "install the package tzdata"));
    assert_non_null(strstr(err.msg, "Europe/Berlin"));
    /* UTC is there all the same. */
    zone = load(&alloc, "UTC");
    pawl__timezone_free(zone);
    zone = load(&alloc, "Etc/UTC");
    pawl__timezone_free(zone);
    skip_without_database();
    assert_int_equal(unsetenv("TZDIR"), 0);
    assert_code(pawl__tzdata_load(&alloc.base, pawl__str("Europe/Atlantis"), &zone, &err),
                PAWL_ENOTFOUND);
    assert_non_null(strstr(err.msg, "Europe/Atlantis"));
    assert_code(pawl__tzdata_load(&alloc.base, pawl__str("Europe"), &zone, &err), PAWL_ENOTFOUND);
    assert_int_equal(alloc.live_count, 0);
}

static void reads_the_folder_in_tzdir_and_notices_damage(void **state)
{
    char folder[] = "/tmp/pawl-tzdata-XXXXXX", path[64];
    struct test_allocator alloc;
    struct pawl_timezone *zone = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    FILE *file;

    (void)state;
    test_allocator_init(&alloc);
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/Damaged", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("TZif2 but nothing more", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(setenv("TZDIR", folder, 1), 0);
    assert_code(pawl__tzdata_load(&alloc.base, pawl__str("Damaged"), &zone, &err), PAWL_ECORRUPT);
    assert_int_equal(err.code, PAWL_ECORRUPT);
    assert_code(pawl__tzdata_load(&alloc.base, pawl__str("Europe/Berlin"), &zone, &err),
                PAWL_ENOTFOUND);
    assert_int_equal(truncate(path, 5 << 20), 0);
    assert_code(pawl__tzdata_load(&alloc.base, pawl__str("Damaged"), &zone, &err), PAWL_ECORRUPT);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* must not wait for a writer */
    assert_code(pawl__tzdata_load(&alloc.base, pawl__str("Damaged"), &zone, &err), PAWL_ENOTFOUND);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(alloc.live_count, 0);
}

static void finds_the_local_zone_as_the_c_library_does(void **state)
{
    static const struct {
        const char *tz, *name;
        int32_t offset_s; /* at 2026-07-01 */
    } cases[] = {
        {"", "UTC", 0},
        {":", "UTC", 0},
        {"UTC", "UTC", 0},
        {"Europe/Berlin", "Europe/Berlin", 7200},
        {":Europe/Berlin", "Europe/Berlin", 7200},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3", 7200},
        {"<+0330>-3:30", "<+0330>-3:30", 12600},
        {":/usr/share/zoneinfo/Asia/Kolkata", "localtime", 19800},
    };
    struct test_allocator alloc;
    struct pawl_timezone *zone = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    skip_without_database();
    test_allocator_init(&alloc);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(setenv("TZ", cases[i].tz, 1), 0);
        assert_ok(pawl__tzdata_local(&alloc.base, &zone, &err), &err);
        assert_string_equal(pawl__timezone_name(zone), cases[i].name);
        assert_int_equal(pawl__timezone_at(zone, 1782864000).offset_s, cases[i].offset_s);
        pawl__timezone_free(zone);
    }
    assert_int_equal(setenv("TZ", "Europe/Atlantis", 1), 0);
    assert_code(pawl__tzdata_local(&alloc.base, &zone, &err), PAWL_ENOTFOUND);
    assert_non_null(strstr(err.msg, "the environment variable TZ: time zone Europe/Atlantis"));
    assert_int_equal(unsetenv("TZ"), 0);
    tzset();
    assert_ok(pawl__tzdata_local(&alloc.base, &zone, &err), &err);
    assert_like_libc(zone, 1782864000);
    pawl__timezone_free(zone);
    assert_int_equal(alloc.live_count, 0);
}

static int load_berlin(struct test_allocator *alloc, void *arg)
{
    struct pawl_timezone *zone = NULL;
    int status = pawl__tzdata_load(&alloc->base, pawl__str("Europe/Berlin"), &zone, NULL);

    (void)arg;
    pawl__timezone_free(zone);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    skip_without_database();
    test_sweep_allocations(load_berlin, NULL, 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, without_variables, without_variables)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(agrees_with_the_c_library),
        TEST(local_times_are_the_inverse_of_offsets),
        TEST(apia_skipped_a_whole_day),
        TEST(reads_every_zone_of_the_system),
        TEST(refuses_names_that_could_leave_the_folder),
        TEST(says_what_is_missing),
        TEST(reads_the_folder_in_tzdir_and_notices_damage),
        TEST(finds_the_local_zone_as_the_c_library_does),
        TEST(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("os/tzdata", tests, NULL, NULL);
}
