/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials of requests: what is found in an Authorization field, in cookies and in a query lies
 * within it.
 */
#include "api/credential.h"
#include "fuzz/fuzz.h"

static void check_within(struct pawl_str part, struct pawl_str whole)
{
    FUZZ_DEMAND(!part.ptr || part.len == 0 ||
                (part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_str all = pawl__str_make((const char *)data, size), text;
    enum pawl_scheme scheme = pawl__authorization_read(all, &text);

    check_within(text, all);
    FUZZ_DEMAND(scheme != PAWL_SCHEME_BEARER || text.len > 0);
    text = pawl__cookie_find(all, "pawl_session");
    check_within(text, all);
    FUZZ_DEMAND(!text.ptr || !memchr(text.ptr, ';', text.len));
    text = pawl__query_find(all, "t");
    check_within(text, all);
    FUZZ_DEMAND(!text.ptr || !memchr(text.ptr, '&', text.len));
    return 0;
}
