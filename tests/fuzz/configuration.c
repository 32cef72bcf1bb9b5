/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is refused with a place, or read; what is read is shown without control characters. */
#include "host/configuration.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_str text = pawl__str_make((const char *)data, size);
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_configuration configuration;
    int status;

    pawl__configuration_init(&configuration, &alloc);
    status = pawl__configuration_parse(&configuration, text, "f", &err);
    FUZZ_DEMAND(status == PAWL_OK || status == PAWL_EPARSE || status == PAWL_ELIMIT);
    FUZZ_DEMAND(status != PAWL_EPARSE || (err.code == status && strncmp(err.msg, "f:", 2) == 0));
    for (unsigned i = 0; i < PAWL_SETTING_COUNT; i++) {
        enum pawl_setting_id id = (enum pawl_setting_id)i;
        const struct pawl_setting *setting = pawl__setting(id);
        struct pawl_setting_value *value = &configuration.values[id];
        struct pawl_buf shown;

        FUZZ_DEMAND(status == PAWL_OK || value->origin == PAWL_ORIGIN_DEFAULT);
        FUZZ_DEMAND(setting->max == 0 ||
                    (setting->type == PAWL_SETTING_AUTO && value->number == -1) ||
                    (value->number >= setting->min && value->number <= setting->max));
        pawl__buf_init(&shown, &alloc, (size_t)1 << 24);
        pawl__configuration_show(&configuration, id, &shown);
        FUZZ_DEMAND(shown.status == PAWL_OK && pawl__utf8_valid(pawl__buf_peek(&shown)));
        pawl__buf_release(&shown);
    }
    pawl__configuration_release(&configuration);
    return 0;
}
