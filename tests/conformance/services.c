/* SPDX-License-Identifier: Apache-2.0 */
/* Reloader and refresher of the node of a case; with locks, those of a cluster. See services.h. */
#include "conformance/services.h"

#include "base/error.h"
#include "conformance/expect.h"
#include "conformance/node.h"
#include "distributed/distributed.h"
#include "runtime/definitions/refresher.h"

/* ---- reloader ---------------------------------------------------------------------------- */

struct files {
    struct pawl_definition_provider base;
    struct running *run;
};

static int visit_files(struct pawl_definition_provider *provider, pawl_definition_visitor visit,
                       pawl_unreadable_visitor unreadable, void *ctx, struct pawl_error *err)
{
    struct running *run = ((struct files *)provider)->run;
    const struct pawl_json *names = pawl__json_get_text(run->json, "definitions");
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(names) && status == PAWL_OK; i++) {
        struct pawl_str name = pawl__json_str(pawl__json_at(names, i));
        struct pawl_error why = PAWL_ERROR_INIT;
        struct pawl_json json;

        if (suite_read(run->suite, &run->arena, "definitions/", name, &json, &why) == PAWL_OK)
            status = visit(ctx, name.ptr, &json, err);
        else
            unreadable(ctx, name.ptr, &why);
    }
    return status;
}

static int open_reloader(struct running *run, struct files *files, struct pawl_reloader **out,
                         struct pawl_error *err)
{
    struct pawl_distribution distribution;
    struct pawl_reloader *local;
    int status =
        pawl__local_reloader_new(run->env, definitions_of(run), &files->base, NULL, &local, err);

    *out = local;
    if (status != PAWL_OK || !run->locks)
        return status;
    pawl__distribution_init(&distribution, run->env, run->locks);
    status = pawl__distributed_reloader_new(&distribution, local, out, err);
    if (status != PAWL_OK)
        pawl__reloader_close(local);
    return status;
}

bool services_reload(struct running *run)
{
    struct files files = {.base = {.name = "files of the case", .visit = visit_files}, .run = run};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_reloaded said = {0};
    struct pawl_reloader *reloader;
    int status = open_reloader(run, &files, &reloader, &err);

    if (status != PAWL_OK)
        return differs(run, "no reloader: %s", err.msg);
    status = pawl__reloader_reload(reloader, &said, deadline(run), &err);
    pawl__reloader_close(reloader);
    run->stale = true;
    if (status != PAWL_OK)
        return differs(run, "reload: %s", err.msg);
    return (said.failed == 0 && !said.in_progress) ||
           differs(run, "reload: %u definitions failed%s", said.failed,
                   said.in_progress ? ", another node is at it" : "");
}

/* ---- refresher --------------------------------------------------------------------------- */

static int open_refresher(struct running *run, struct pawl_refresher **out, struct pawl_error *err)
{
    struct pawl_distribution distribution;
    struct pawl_refresher *local;
    int status =
        pawl__local_refresher_new(run->env, run->store, definitions_of(run), NULL, &local, err);

    *out = local;
    if (status != PAWL_OK || !run->locks)
        return status;
    pawl__distribution_init(&distribution, run->env, run->locks);
    status = pawl__distributed_refresher_new(&distribution, local, out, err);
    if (status != PAWL_OK)
        pawl__refresher_close(local);
    return status;
}

bool services_refresh(struct running *run, const struct pawl_json *ids)
{
    struct pawl_refresh refresh = {.count = pawl__json_len(ids)};
    struct pawl_str *texts = pawl__arena_alloc_array(&run->arena, refresh.count + 1, sizeof *texts);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_refreshed said = {0};
    struct pawl_refresher *refresher;
    int status;

    for (uint32_t i = 0; texts && i < refresh.count; i++)
        texts[i] = pawl__json_str(pawl__json_at(ids, i));
    refresh.ids = texts;
    status = texts ? open_refresher(run, &refresher, &err) : PAWL_ENOMEM;
    if (status != PAWL_OK)
        return differs(run, "no refresher: %s", err.msg);
    status = pawl__refresher_refresh(refresher, &refresh, &run->arena, &said, deadline(run), &err);
    pawl__refresher_close(refresher);
    run->stale = true;
    if (status != PAWL_OK)
        return differs(run, "refresh: %s", err.msg);
    return said.refreshed_count + said.not_found_count == refresh.count ||
           differs(run, "of %zu definitions %zu were refreshed, %zu not found", refresh.count,
                   said.refreshed_count, said.not_found_count);
}
