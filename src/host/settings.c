/* SPDX-License-Identifier: Apache-2.0 */
/* The table of settings; see settings.h. */
#include "host/settings.h"

#include "base/assert.h"
#include "base/suggest.h"

#include <string.h>

static const char *const levels[] = {"off", "error", "warn", "info", "debug", "trace", NULL};
static const char *const formats[] = {"text", "json", NULL};
static const char *const deliveries[] = {"direct", "rows", "mixed", NULL};
static const char *const modes[] = {"0600", "0640", "0660", "0644", "0664", NULL};

/* Constant expressions by type: only a CHOICE has any. */
#define choices_TEXT(id) NULL
#define choices_URI(id) NULL
#define choices_INT(id) NULL
#define choices_AUTO(id) NULL
#define choices_BOOL(id) NULL
#define choices_DURATION(id) NULL
#define choices_SIZE(id) NULL
#define choices_CHOICE(id)                                                                         \
    ((id) == PAWL_SETTING_ID_LOG_LEVEL   ? levels                                                  \
     : (id) == PAWL_SETTING_ID_FILE_MODE ? modes                                                   \
     : (id) == PAWL_SETTING_ID_DELIVERY  ? deliveries                                              \
                                         : formats)

static const struct pawl_setting rows[PAWL_SETTING_COUNT] = {
#define ROW(id, name_, type_, fallback_, variable_, option_, min_, max_, help_)                    \
    [PAWL_SETTING_ID_##id] = {.name = (name_),                                                     \
                              .type = PAWL_SETTING_##type_,                                        \
                              .fallback = (fallback_),                                             \
                              .variable = (variable_),                                             \
                              .option = (option_),                                                 \
                              .min = (min_),                                                       \
                              .max = (max_),                                                       \
                              .choices = choices_##type_(PAWL_SETTING_ID_##id),                    \
                              .help = (help_),                                                     \
                              .secret = PAWL_SETTING_ID_##id == PAWL_SETTING_ID_ADMIN_API_KEY ||   \
                                        PAWL_SETTING_ID_##id == PAWL_SETTING_ID_ENDPOINTS_SECRETS, \
                              .grows = PAWL_SETTING_ID_##id == PAWL_SETTING_ID_HTTP_DENY},
    PAWL_SETTING_LIST(ROW)
#undef ROW
};

const struct pawl_setting *pawl__setting(enum pawl_setting_id id)
{
    PAWL_ASSERT((unsigned)id < PAWL_SETTING_COUNT);
    return &rows[id];
}

enum pawl_setting_id pawl__setting_find(const char *name)
{
    unsigned id = 0;

    while (id < PAWL_SETTING_COUNT && strcmp(rows[id].name, name) != 0)
        id++;
    return (enum pawl_setting_id)id;
}

const char *pawl__setting_suggest(const char *name)
{
    const char *names[PAWL_SETTING_COUNT + 1] = {NULL};

    for (unsigned id = 0; id < PAWL_SETTING_COUNT; id++)
        names[id] = rows[id].name;
    return pawl__suggest(name, names);
}
