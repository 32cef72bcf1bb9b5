/* SPDX-License-Identifier: Apache-2.0 */
/* What became of one case of locks/check.h. */
#ifndef PAWL_LOCKS_CHECK_RESULT_H
#define PAWL_LOCKS_CHECK_RESULT_H

enum pawl_lock_check_outcome {
    PAWL_LOCK_CHECK_OK,
    PAWL_LOCK_CHECK_FAILED,
    PAWL_LOCK_CHECK_SKIPPED, /* the provider does not have what it is about; `detail` says so */
};

struct pawl_lock_check_result {
    enum pawl_lock_check_outcome outcome;
    char detail[512]; /* why it failed or was skipped, or a figure; "": nothing to say */
};

#endif
