/* SPDX-License-Identifier: Apache-2.0 */
/* A node that stores nothing; see scratch.h. */
#include "cli/session/scratch.h"

#include "base/error.h"
#include "cli/command/output.h"
#include "cli/session/configure.h"
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

static int start_host(struct pawl_cli *cli, const struct pawl_cli_scratch_options *options,
                      struct pawl_cli_scratch *out, struct pawl_error *err)
{
    struct pawl_surroundings around = options->around;
    int status = pawl__host_new(out->env, &out->configuration, &out->host, err);

    if (status != PAWL_OK)
        return status;
    around.log = &cli->log;
    around.outside = cli->env;
    around.transient = around.ephemeral = around.works_itself = true;
    pawl__host_set_surroundings(out->host, &around);
    status = pawl__host_compose(out->host, err);
    return status == PAWL_OK ? pawl__host_start(out->host, err) : status;
}

int pawl__cli_scratch_open(struct pawl_cli *cli, const struct pawl_cli_scratch_options *options,
                           struct pawl_cli_scratch *out, struct pawl_error *err)
{
    int status;

    *out = (struct pawl_cli_scratch){.env = cli->env, .log = &cli->log};
    status = pawl__cli_configure(cli, &out->configuration, err);
    if (status != PAWL_OK)
        return status;
    out->configured = true;
    status = keep_in_memory(cli, &out->configuration, err);
    if (status == PAWL_OK && options->stepwise)
        status = pawl__configuration_set(&out->configuration, PAWL_SETTING_ID_ENGINE_YIELD_AFTER,
                                         pawl__str("1"), PAWL_ORIGIN_OPTION,
                                         pawl__cli_path_text(cli), err);
    if (status == PAWL_OK && options->now_ns) {
        status = pawl__clock_env_open(cli->env, NULL, *options->now_ns, &out->clock);
        if (status != PAWL_OK)
            return pawl__error_code(err, status);
        out->env = pawl__clock_env(out->clock);
    }
    return status == PAWL_OK ? start_host(cli, options, out, err) : status;
}

void pawl__cli_scratch_close(struct pawl_cli_scratch *scratch)
{
    pawl__host_free(scratch->host);
    if (scratch->configured)
        pawl__configuration_release(&scratch->configuration);
    pawl__clock_env_close(scratch->clock);
}

struct pawl_op pawl__cli_scratch_op(const struct pawl_cli_scratch *scratch,
                                    struct pawl_arena *arena, struct pawl_error *err)
{
    return (struct pawl_op){.host = scratch->host,
                            .arena = arena,
                            .deadline_ns = pawl_env_monotonic_ns(scratch->env) + WAIT_NS,
                            .err = err,
                            .log = scratch->log,
                            .actor = pawl__str("cli")};
}
