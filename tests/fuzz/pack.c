/* SPDX-License-Identifier: Apache-2.0 */
/* Any stored bytes are refused or give bytes within the limit; those, packed, come back. */
#include "runtime/pack.h"

#include "fuzz/fuzz.h"

#define LIMIT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str stored = pawl__str_make((const char *)data, size), plain, packed, again;
    struct pawl_packer first, second, third;
    struct pawl_error err = PAWL_ERROR_INIT;
    int status;

    pawl__packer_init(&first, &alloc);
    pawl__packer_init(&second, &alloc);
    pawl__packer_init(&third, &alloc);
    status = pawl__unpack(&first, stored, LIMIT, &plain, &err);
    if (status != PAWL_OK) {
        FUZZ_DEMAND(err.code == status && err.msg[0] != '\0');
        FUZZ_DEMAND(status == PAWL_ECORRUPT || status == PAWL_ELIMIT || status == PAWL_ENOMEM);
    } else {
        FUZZ_DEMAND(plain.len <= LIMIT);
        FUZZ_DEMAND(pawl__pack(&second, plain, &packed, &err) == PAWL_OK);
        FUZZ_DEMAND(pawl__unpack(&third, packed, LIMIT, &again, &err) == PAWL_OK);
        FUZZ_DEMAND(pawl__str_equal(plain, again));
    }
    pawl__packer_release(&first);
    pawl__packer_release(&second);
    pawl__packer_release(&third);
    return 0;
}
