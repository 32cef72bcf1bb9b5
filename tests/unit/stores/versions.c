/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backends are compiled against a version of <pawl/ext/store.h>, and used by libraries of later
 * ones: what they read and write stays in its place.
 */
#include "lib/test.h"

#include <pawl/ext/store.h>

/* Of version 2, without comments. Claims come in an array, commits by address. */
struct claim_2 {
    struct pawl_str id;
    const struct pawl_lock_ticket *ticket;
    int64_t seen_fence;
    struct pawl_str hash;
    int status;
    struct pawl_instance_row row;
    const struct pawl_work_row *mail;
    size_t mail_count;
};

struct commit_2 {
    enum pawl_commit_kind kind;
    uint32_t flags;
    const struct pawl_instance_row *instance;
    const struct pawl_str *done;
    size_t done_count;
    int64_t done_owner;
    struct pawl_str stamp;
    int64_t stamp_value;
    const struct pawl_change *changes;
    size_t change_count;
    int status;
    bool cancel_requested;
    bool has_mail;
    bool has_expired;
    struct pawl_error error;
};

#define CLAIM(member)                                                                              \
    assert_int_equal(offsetof(struct pawl_claim, member), offsetof(struct claim_2, member))
#define COMMIT(member)                                                                             \
    assert_int_equal(offsetof(struct pawl_commit, member), offsetof(struct commit_2, member))

static void claims_are_where_a_backend_of_version_2_looks(void **state)
{
    (void)state;
    CLAIM(id);
    CLAIM(ticket);
    CLAIM(seen_fence);
    CLAIM(hash);
    CLAIM(status);
    CLAIM(row);
    CLAIM(mail);
    CLAIM(mail_count);
    assert_int_equal(sizeof(struct pawl_claim), sizeof(struct claim_2));
}

static void commits_are_where_a_backend_of_version_2_looks(void **state)
{
    (void)state;
    COMMIT(kind);
    COMMIT(flags);
    COMMIT(instance);
    COMMIT(done);
    COMMIT(done_count);
    COMMIT(done_owner);
    COMMIT(stamp);
    COMMIT(stamp_value);
    COMMIT(changes);
    COMMIT(change_count);
    COMMIT(status);
    COMMIT(cancel_requested);
    COMMIT(has_mail);
    COMMIT(has_expired);
    COMMIT(error);
    assert_true(sizeof(struct pawl_commit) >= sizeof(struct commit_2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_where_a_backend_of_version_2_looks),
        cmocka_unit_test(commits_are_where_a_backend_of_version_2_looks),
    };

    return cmocka_run_group_tests_name("stores/versions", tests, NULL, NULL);
}
