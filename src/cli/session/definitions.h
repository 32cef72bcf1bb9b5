/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions from files, for commands that look at them and run nothing: the files' texts, and
 * where in them something stands.
 */
#ifndef PAWL_CLI_SESSION_DEFINITIONS_H
#define PAWL_CLI_SESSION_DEFINITIONS_H

#include "cli/command/command.h"
#include "operations/offline.h"

/* A file that was read. */
struct pawl_cli_definition {
    const char *path;
    struct pawl_str text;
    struct pawl_json json;
    int status;                   /* of parsing: PAWL_OK, PAWL_EPARSE or PAWL_ELIMIT */
    struct pawl_error err;        /* when it did not parse */
    struct pawl_json_place place; /* and where */
};

/*
 * Reads a file and offers it to the others as an activity. *out lives in the run's arena. A text
 * that does not parse is no failure of this call: see out->status.
 */
PAWL_MUST_CHECK int pawl__cli_definitions_read(struct pawl_cli *cli, struct pawl_offline *offline,
                                               const char *path, struct pawl_cli_definition *out,
                                               struct pawl_error *err);

/*
 * Where a pointer begins in the text: exactly, or, when the text spells a key in another case, the
 * nearest value around it. Line 1, column 1 when nothing is found. Reads the text for each call;
 * locate.h has one for many.
 */
void pawl__cli_locate(const struct pawl_cli_definition *definition, const char *pointer,
                      struct pawl_json_place *place);

#endif
