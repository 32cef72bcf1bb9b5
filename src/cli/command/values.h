/* SPDX-License-Identifier: Apache-2.0 */
/* Values of workflows on the command line: --input, --var, --event, --version. */
#ifndef PAWL_CLI_COMMAND_VALUES_H
#define PAWL_CLI_COMMAND_VALUES_H

#include "base/json/json.h"
#include "base/time/datetime.h"
#include "cli/command/command.h"
#include "operations/definitions.h"

/* Text that is JSON is that value, anything else is a string. *out lives in cli->arena. */
PAWL_MUST_CHECK int pawl__cli_value(struct pawl_cli *cli, struct pawl_str text,
                                    struct pawl_json *out);

/* The same, and @FILE is the value that a file has, '@-' standard input. Those of reading a file;
 * PAWL_EINVAL: it is not UTF-8. */
PAWL_MUST_CHECK int pawl__cli_payload(struct pawl_cli *cli, const char *text, struct pawl_json *out,
                                      struct pawl_error *err);

/*
 * Sets in `object` what the value of an option says: NAME=VALUE, NAME=@FILE (the value is what the
 * file has), or @FILE (a JSON object with several). PAWL_EINVAL; those of reading a file.
 */
PAWL_MUST_CHECK int pawl__cli_add_value(struct pawl_cli *cli, struct pawl_json *object,
                                        const char *text, struct pawl_error *err);

/* What a repeatable option says: an object with all of its values. The same errors. */
PAWL_MUST_CHECK int pawl__cli_values(struct pawl_cli *cli, const char *option,
                                     struct pawl_json *out, struct pawl_error *err);

/* clang-format off */
#define PAWL_CLI_INPUT_OPTION                                                                      \
    {.name = "input",                                                                              \
     .letter = 'i',                                                                                \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "NAME=VALUE",                                                                          \
     .help = "An input: JSON, else text; =@FILE reads it, @FILE has several",                      \
     .repeatable = true}
/* clang-format on */

/* ---- times ---------------------------------------------------------------------------------- */

/* The time that an option says, ISO 8601, UTC without an offset. *given false: it was not given.
 * PAWL_EINVAL: it is not a time. */
PAWL_MUST_CHECK int pawl__cli_time(const struct pawl_cli_args *args, const char *option,
                                   struct pawl_datetime *out, bool *given, struct pawl_error *err);

/* ---- versions of definitions ---------------------------------------------------------------- */

/* clang-format off */
#define PAWL_CLI_VERSION_OPTION(usual)                                                             \
    {.name = "version",                                                                            \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "VERSION",                                                                             \
     .help = "A number, 'latest' or 'published' (default: " usual ")"}
/* clang-format on */

/* What --version says; without it `usual`. PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__cli_pick_version(const struct pawl_cli_args *args,
                                           enum pawl_version_pick usual,
                                           struct pawl_version_options *out,
                                           struct pawl_error *err);

#endif
