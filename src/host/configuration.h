/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a node: the value of every setting (settings.h), and where it came from.
 *
 * Sources, from the weakest to the strongest:
 *
 *     default     the table's, or one that the host computed (the machine's name)
 *     file        `key = value` lines; see pawl__configuration_parse(). Of several files the one
 *                 that is read later is stronger
 *     variable    PAWL_…; an empty one counts as not set
 *     option      the command line
 *
 * A later source replaces the value, except for a deny list (`grows` in
 * settings.h): there each source adds to the others, so that none can allow what another one
 * forbids.
 *
 * A value is checked when it is set, by its type and range; a message names the source, the setting
 * and what it may be. A configuration is filled at the start and then only read, by any thread.
 */
#ifndef PAWL_HOST_CONFIGURATION_H
#define PAWL_HOST_CONFIGURATION_H

#include "base/arena.h"
#include "base/buf.h"
#include "host/settings.h"

#include <pawl/error.h>

/* A file of settings is short; one that is not is something else. */
#define PAWL_CONFIGURATION_FILE_MAX ((size_t)1 << 20)
/* All values and their origins. */
#define PAWL_CONFIGURATION_BYTES_MAX ((size_t)4 << 20)

/*
 * The files that are read when they are there, in this order: the machine's, always; the user's
 * ($XDG_CONFIG_HOME/pawl/pawl.conf, else $HOME/.config/pawl/pawl.conf) and that of the working
 * folder, unless another one is named in place of these two.
 */
#define PAWL_CONFIGURATION_FILE_SYSTEM "/etc/pawl/pawl.conf"
#define PAWL_CONFIGURATION_FILE_USER "pawl/pawl.conf"
#define PAWL_CONFIGURATION_FILE_HERE "pawl.conf"
#define PAWL_CONFIGURATION_FILE_VARIABLE "PAWL_CONFIG"

#define PAWL_CONFIGURATION_FILES_MAX 3

enum pawl_origin {
    PAWL_ORIGIN_DEFAULT,
    PAWL_ORIGIN_FILE,
    PAWL_ORIGIN_VARIABLE,
    PAWL_ORIGIN_OPTION,
};

struct pawl_setting_value {
    const char *text; /* as it was written, trimmed */
    int64_t number;   /* of the types that have one; BOOL: 0 or 1 */
    enum pawl_origin origin;
    /* "pawl.conf:3", "PAWL_STORE", "--store"; of a list with commas between; "" of a default */
    const char *place;
};

struct pawl_configuration {
    struct pawl_arena arena;
    struct pawl_setting_value values[PAWL_SETTING_COUNT];
    const char *files[PAWL_CONFIGURATION_FILES_MAX]; /* that were read, the strongest last */
    size_t file_count;
};

/* All defaults. Allocates nothing. */
void pawl__configuration_init(struct pawl_configuration *configuration,
                              const struct pawl_allocator *alloc);
void pawl__configuration_release(struct pawl_configuration *configuration);

/*
 * Sets a value unless a stronger source has set it. Copies text and place. PAWL_EINVAL: not a value
 * of this setting; PAWL_ENOMEM, PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__configuration_set(struct pawl_configuration *configuration,
                                            enum pawl_setting_id id, struct pawl_str text,
                                            enum pawl_origin origin, const char *place,
                                            struct pawl_error *err);

/* "NAME=VALUE" of the command line; `place` is the option. PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__configuration_set_pair(struct pawl_configuration *configuration,
                                                 const char *pair, const char *place,
                                                 struct pawl_error *err);

/*
 * Reads the text of a file: UTF-8, one `key = value` a line, blanks around both ignored; a value in
 * double quotes is what is between them; lines that begin with '#' are comments. `name` is what
 * messages and places call the file. PAWL_EPARSE with "name:line: …" for a line of another form, a
 * unknown key (with the nearest one), a key given twice, an invalid value.
 */
PAWL_MUST_CHECK int pawl__configuration_parse(struct pawl_configuration *configuration,
                                              struct pawl_str text, const char *name,
                                              struct pawl_error *err);

struct pawl_configuration_sources {
    const char *file; /* --config; NULL: PAWL_CONFIG, else those that are found, see above */
    /* The variable's value; NULL when it is not set. NULL: no variables. */
    const char *(*variable)(void *ctx, const char *name);
    void *ctx;
    bool no_search; /* only a file that is named: for tests */
};

/*
 * Reads files and variables. A file that was named must be there: PAWL_ENOTFOUND; one that was
 * looked for need not be, but must be trusted: PAWL_EPERM when it belongs to somebody else than
 * this user or root, or when everybody may write to it.
 */
PAWL_MUST_CHECK int pawl__configuration_read(struct pawl_configuration *configuration,
                                             const struct pawl_configuration_sources *sources,
                                             struct pawl_error *err);

static inline const char *pawl__configuration_text(const struct pawl_configuration *configuration,
                                                   enum pawl_setting_id id)
{
    return configuration->values[id].text;
}

/* INT, BOOL, DURATION (nanoseconds) and SIZE (bytes). */
static inline int64_t pawl__configuration_number(const struct pawl_configuration *configuration,
                                                 enum pawl_setting_id id)
{
    return configuration->values[id].number;
}

/* Appends the value as it may be shown: URIs without their password, secrets as ***. */
void pawl__configuration_show(const struct pawl_configuration *configuration,
                              enum pawl_setting_id id, struct pawl_buf *out);

/* "default", "pawl.conf:3", "PAWL_STORE", "--store". */
const char *pawl__configuration_place(const struct pawl_configuration *configuration,
                                      enum pawl_setting_id id);

#endif
