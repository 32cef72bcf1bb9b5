/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are sent and received: JSON documents, alone or in zip archives. */
#ifndef PAWL_API_FILES_H
#define PAWL_API_FILES_H

#include "api/private.h"
#include "http/zip.h"

/* A name as part of a path or a field: what is not a letter or a digit as %XX. NULL: no memory. */
const char *api_encode(struct pawl_arena *arena, struct pawl_str text);
/*
 * As part of a file's name: in lower case, words apart by '-', and nothing that would be a path.
 * ptr NULL: no memory.
 */
struct pawl_str api_slug(struct pawl_arena *arena, struct pawl_str text);

/* Replaces what a file's name cannot have, in a text of an arena: ids may have anything in them.
 * NULL: allowed. */
const char *api_file_name(const char *name);

/* Responds with a file to be kept under this name. */
void api_send_file(struct api_call *call, const char *name, struct pawl_str content);
/* The same of several, in an archive. */
void api_send_zip(struct api_call *call, const char *name, const struct pawl_zip_file *files,
                  size_t count);

struct api_file {
    struct pawl_str name; /* for messages */
    struct pawl_json json;
};

struct api_files {
    struct api_file *items;
    size_t count;
};

/*
 * The JSON files of a form, those in archives included; other files in these are passed over. Any
 * name of a field will do. false: it was refused, as a whole, with the name of the file.
 */
bool api_receive_files(struct api_call *call, struct api_files *out);

#endif
