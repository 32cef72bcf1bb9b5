/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl version`: what this program is and what it was built with. */
#include "cli/commands.h"

#include "base/json/json.h"
#include "cli/command/output.h"
#include "cli/licenses.h"
#include "http/server.h"
#include "operations/offline.h"

#include <pawl/version.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* GLIBC: the one compiled against; the program may meet a newer one. */
#define TEXT(value) #value
#define VERSION_TEXT(major, minor) TEXT(major) "." TEXT(minor)
#define GLIBC VERSION_TEXT(__GLIBC__, __GLIBC_MINOR__)

struct fact {
    const char *key;
    const char *value;
};

/* The build passes PAWL_BUILD_…; see meson.build here. */
static size_t collect(struct fact facts[8])
{
    size_t count = 0;

    facts[count++] = (struct fact){"version", pawl_version()};
    facts[count++] = (struct fact){"compiler", COMPILER};
    facts[count++] = (struct fact){"buildType", PAWL_BUILD_TYPE};
    facts[count++] = (struct fact){"sanitizers", PAWL_BUILD_SANITIZERS};
    facts[count++] = (struct fact){"glibc", GLIBC};
    facts[count++] = (struct fact){"zstd", PAWL_BUILD_ZSTD};
    facts[count++] =
        (struct fact){"javascript", pawl__offline_has_javascript() ? "QuickJS-NG" : "none"};
    facts[count++] = (struct fact){"llhttp", pawl__server_parser_version()};
    return count;
}

static int show_licenses(struct pawl_cli_stream *to)
{
    pawl__cli_print(to, "Pawl is under the Apache License 2.0. It contains:\n");
    for (const struct pawl_cli_license *l = pawl__cli_licenses; l->part; l++) {
        pawl__cli_print(to, "\n%s (%s)\n\n", l->part, l->purpose);
        pawl__cli_write_own(to, l->copyright);
        pawl__cli_write_own(to, "\n");
        pawl__cli_write_own(to, l->terms);
    }
    return PAWL_CLI_EXIT_OK;
}

static int run(struct pawl_cli *cli)
{
    struct pawl_cli_stream *to = &cli->out;
    struct fact facts[8];
    size_t count = collect(facts);
    struct pawl_json_writer json;
    struct pawl_buf buf;

    if (pawl__cli_named(&cli->args) != &pawl__cli_version) { /* pawl --version */
        pawl__cli_print(to, "pawl %s\n", pawl_version());
        return PAWL_CLI_EXIT_OK;
    }
    if (pawl__cli_flag(&cli->args, "licenses"))
        return show_licenses(to);
    if (!pawl__cli_flag(&cli->args, "json")) {
        pawl__cli_print(to, "pawl %s\n", pawl_version());
        for (size_t i = 1; i < count; i++)
            pawl__cli_print(to, "  %-12s %s\n", facts[i].key, facts[i].value);
        return PAWL_CLI_EXIT_OK;
    }
    pawl__buf_init(&buf, &cli->env->alloc, 1 << 16);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__json_write_begin_object(&json);
    for (size_t i = 0; i < count; i++) {
        pawl__json_write_key_text(&json, facts[i].key);
        pawl__json_write_string_text(&json, facts[i].value);
    }
    pawl__json_write_end_object(&json);
    return pawl__cli_write_json(cli, &buf);
}

static const struct pawl_cli_option options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print one JSON object"},
    {.name = "licenses", .kind = PAWL_CLI_FLAG, .help = "Print the licences of parts by others"},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_version = {
    .name = "version",
    .summary = "Show the version and what it was built with",
    .help = "'pawl --version' prints only the version.\n",
    .options = options,
    .run = run,
};
