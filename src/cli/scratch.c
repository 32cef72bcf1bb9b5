/* SPDX-License-Identifier: Apache-2.0 */
/* A node that stores nothing; see scratch.h. */
#include "cli/scratch.h"

#include "base/error.h"
#include "cli/configure.h"
#include "cli/output.h"
#include "host/features.h"

#define WAIT_NS INT64_C(60000000000)

/* Whatever else is configured: it is kept in memory, and by nobody else. */
static int keep_in_memory(struct pawl_cli *cli, struct pawl_configuration *configuration,
                          struct pawl_error *err)
{
    static const struct {
        enum pawl_setting_id id;
        const char *text;
    } fixed[] = {
        {PAWL_SETTING_ID_STORE, "memory:"},
        {PAWL_SETTING_ID_LOCK, ""},
        {PAWL_SETTING_ID_DISTRIBUTED, "false"},
        {PAWL_SETTING_ID_DEFINITIONS_FOLDER, ""},
    };
    const char *place = pawl__cli_path_text(cli);
    int status = PAWL_OK;

    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0] && status == PAWL_OK; i++)
        status = pawl__configuration_set(configuration, fixed[i].id, pawl__str(fixed[i].text),
                                         PAWL_ORIGIN_OPTION, place, err);
    return status;
}

static int extend(void *ctx, struct pawl_engine *engine, struct pawl_error *err)
{
    const struct pawl_cli_scratch *scratch = ctx;
    int status = scratch->activity ? pawl__engine_add_activity(engine, scratch->activity) : PAWL_OK;

    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static int start_host(struct pawl_cli *cli, const struct pawl_cli_scratch_options *options,
                      struct pawl_cli_scratch *out, struct pawl_error *err)
{
    int status = pawl__host_new(out->env, &out->configuration, &out->host, err);

    if (status != PAWL_OK)
        return status;
    pawl__host_set_surroundings(out->host, &(struct pawl_surroundings){.log = &cli->log,
                                                                       .extend = extend,
                                                                       .ctx = out,
                                                                       .outside = cli->env,
                                                                       .hooks = &options->hooks,
                                                                       .transient = true,
                                                                       .ephemeral = true});
    status = pawl__host_compose(out->host, err);
    return status == PAWL_OK ? pawl__host_start(out->host, err) : status;
}

int pawl__cli_scratch_open(struct pawl_cli *cli, const struct pawl_cli_scratch_options *options,
                           struct pawl_cli_scratch *out, struct pawl_error *err)
{
    int status;

    *out = (struct pawl_cli_scratch){.env = cli->env, .activity = options->activity};
    status = pawl__cli_configure(cli, &out->configuration, err);
    if (status != PAWL_OK)
        return status;
    out->configured = true;
    status = keep_in_memory(cli, &out->configuration, err);
    if (status == PAWL_OK && options->now_ns) {
        status = pawl__clock_env_open(cli->env, NULL, *options->now_ns, &out->clock);
        if (status != PAWL_OK)
            return pawl__error_code(err, status);
        out->env = pawl__clock_env(out->clock);
    }
    if (status == PAWL_OK)
        status = start_host(cli, options, out, err);
    if (status != PAWL_OK)
        return status;
    out->engine = pawl__host_get(out->host, PAWL_SLOT_ENGINE);
    out->store = pawl__host_get(out->host, PAWL_SLOT_STORE);
    out->runtime = pawl__host_node(out->host);
    return PAWL_OK;
}

void pawl__cli_scratch_close(struct pawl_cli_scratch *scratch)
{
    pawl__host_free(scratch->host);
    if (scratch->configured)
        pawl__configuration_release(&scratch->configuration);
    pawl__clock_env_close(scratch->clock);
}

int64_t pawl__cli_scratch_deadline(const struct pawl_cli_scratch *scratch)
{
    return pawl_env_monotonic_ns(scratch->env) + WAIT_NS;
}
