/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of this process; see settings.h. */
#include "operations/settings.h"

#include "base/buf.h"
#include "base/error.h"
#include "host/configuration.h"
#include "host/host.h"
#include "operations/query.h"

static const char *const sources[] = {
    [PAWL_ORIGIN_DEFAULT] = "default",
    [PAWL_ORIGIN_FILE] = "file",
    [PAWL_ORIGIN_VARIABLE] = "variable",
    [PAWL_ORIGIN_OPTION] = "option",
};

static int show_one(const struct pawl_op *op, const struct pawl_configuration *configuration,
                    enum pawl_setting_id id, struct pawl_setting_shown *out)
{
    struct pawl_buf buf;
    int status;

    pawl__buf_init(&buf, &op_env(op)->alloc, PAWL_CONFIGURATION_BYTES_MAX);
    pawl__configuration_show(configuration, id, &buf);
    *out = (struct pawl_setting_shown){.name = pawl__setting(id)->name,
                                       .source = sources[configuration->values[id].origin],
                                       .place = pawl__configuration_place(configuration, id)};
    status = buf.status;
    if (status == PAWL_OK) {
        out->value = pawl__arena_str(op->arena, pawl__buf_peek(&buf));
        status = out->value.ptr ? PAWL_OK : pawl__arena_status(op->arena);
    }
    pawl__buf_release(&buf);
    return status;
}

int pawl__op_settings_list(const struct pawl_op *op, const struct pawl_setting_shown **out,
                           size_t *count)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(op->host);
    struct pawl_setting_shown *list =
        pawl__arena_alloc_array(op->arena, PAWL_SETTING_COUNT, sizeof *list);
    int status = list ? PAWL_OK : pawl__arena_status(op->arena);

    for (unsigned i = 0; i < PAWL_SETTING_COUNT && status == PAWL_OK; i++)
        status = show_one(op, configuration, (enum pawl_setting_id)i, &list[i]);
    if (status != PAWL_OK)
        return pawl__error_code(op->err, status);
    *out = list;
    *count = PAWL_SETTING_COUNT;
    return PAWL_OK;
}
