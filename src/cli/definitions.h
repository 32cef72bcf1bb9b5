/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions from files, for commands that look at them and run nothing: an engine that knows all
 * types, the files' texts, and a catalog in which they find each other.
 */
#ifndef PAWL_CLI_DEFINITIONS_H
#define PAWL_CLI_DEFINITIONS_H

#include "cli/command.h"
#include "engine/catalog.h"
#include "engine/engine.h"
#include "expressions/javascript.h"

/* A file that was read. */
struct pawl_cli_definition {
    const char *path;
    struct pawl_str text;
    struct pawl_json json;
    int status;                   /* of parsing: PAWL_OK, PAWL_EPARSE or PAWL_ELIMIT */
    struct pawl_error err;        /* when it did not parse */
    struct pawl_json_place place; /* and where */
};

struct pawl_cli_definitions {
    struct pawl_engine engine;
    struct pawl_javascript *javascript; /* looks at scripts; runs none */
    struct pawl_catalog catalog;
};

/*
 * Everything built in. JavaScript and Liquid are known by name even in a build that cannot run
 * them. Release the engine whatever the answer.
 */
PAWL_MUST_CHECK int pawl__cli_vocabulary(struct pawl_cli *cli, struct pawl_engine *engine,
                                         struct pawl_error *err);

PAWL_MUST_CHECK int pawl__cli_definitions_open(struct pawl_cli *cli,
                                               struct pawl_cli_definitions *definitions,
                                               struct pawl_error *err);
void pawl__cli_definitions_close(struct pawl_cli_definitions *definitions);

/*
 * Reads a file and offers it to the others as an activity. *out lives in the run's arena. A text
 * that does not parse is no failure of this call: see out->status.
 */
PAWL_MUST_CHECK int pawl__cli_definitions_read(struct pawl_cli *cli,
                                               struct pawl_cli_definitions *definitions,
                                               const char *path, struct pawl_cli_definition *out,
                                               struct pawl_error *err);

/* Loads one; `problems` may be NULL. */
PAWL_MUST_CHECK int pawl__cli_definitions_load(struct pawl_cli *cli,
                                               const struct pawl_cli_definitions *definitions,
                                               const struct pawl_cli_definition *definition,
                                               struct pawl_problems *problems,
                                               struct pawl_graph **out, struct pawl_error *err);

/*
 * Where a pointer begins in the text: exactly, or, when the text spells a key in another case, the
 * nearest value around it. Line 1, column 1 when nothing is found. Reads the text for each call;
 * locate.h has one for many.
 */
void pawl__cli_locate(const struct pawl_cli_definition *definition, const char *pointer,
                      struct pawl_json_place *place);

#endif
