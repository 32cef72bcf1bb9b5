/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of settings and their sources; see configuration.h. Reading numbers out of text is
 * setting_value() and below, reading a file is pawl__configuration_parse() and below.
 */
#include "host/configuration.h"

#include "base/error.h"
#include "base/suggest.h"
#include "base/time/duration.h"
#include "host/uri.h"
#include "os/file.h"

#include <limits.h>
#include <stdio.h>

/* ---- values ------------------------------------------------------------------------------ */

/* A number without sign, as it stands; false when it has other characters or is too large. */
static bool read_digits(struct pawl_str text, int64_t *out)
{
    int64_t value = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int digit = text.ptr[i] - '0';

        if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

/* 65536, 64K, 64KB, 64KiB: all by 1024, as memory is counted. */
static bool read_size(struct pawl_str text, int64_t *out)
{
    static const struct {
        const char *unit;
        int shift;
    } units[] = {
        {"", 0},    {"B", 0},    {"K", 10}, {"KB", 10}, {"KIB", 10}, {"M", 20},
        {"MB", 20}, {"MIB", 20}, {"G", 30}, {"GB", 30}, {"GIB", 30},
    };
    struct pawl_str unit;
    size_t digits = 0;
    int64_t number;

    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
        digits++;
    unit = pawl__str_trim(pawl__str_slice(text, digits, SIZE_MAX));
    if (!read_digits(pawl__str_slice(text, 0, digits), &number))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!pawl__str_equal_nocase(unit, pawl__str(units[i].unit)))
            continue;
        if (number > INT64_MAX >> units[i].shift)
            return false;
        *out = number << units[i].shift;
        return true;
    }
    return false;
}

static bool read_bool(struct pawl_str text, int64_t *out)
{
    static const struct {
        const char *word;
        int64_t value;
    } words[] = {{"true", 1}, {"false", 0}, {"yes", 1}, {"no", 0},
                 {"on", 1},   {"off", 0},   {"1", 1},   {"0", 0}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (pawl__str_equal_nocase(text, pawl__str(words[i].word))) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

static bool read_duration(struct pawl_str text, int64_t *out)
{
    int64_t ticks;

    if (pawl__duration_parse_human(text, &ticks, NULL) != PAWL_OK)
        return false;
    if (ticks > INT64_MAX / 100 || ticks < INT64_MIN / 100)
        return false;
    *out = ticks * 100;
    return true;
}

static bool read_choice(struct pawl_str text, const char *const *choices, int64_t *number)
{
    for (; *choices; choices++) {
        if (!pawl__str_is(text, *choices))
            continue;
        *number = 0;
        for (size_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '7'; i++)
            *number = *number * 8 + (text.ptr[i] - '0');
        return true;
    }
    return false;
}

/* "a number from 1 to 256", for messages. */
static const char *describe(const struct pawl_setting *setting, char *out, size_t size)
{
    char low[PAWL_DURATION_TEXT_SIZE], high[PAWL_DURATION_TEXT_SIZE];
    size_t len = 0;

    out[0] = '\0';
    switch (setting->type) {
    case PAWL_SETTING_INT:
        (void)snprintf(out, size, "a number from %jd to %jd", (intmax_t)setting->min,
                       (intmax_t)setting->max);
        break;
    case PAWL_SETTING_AUTO:
        (void)snprintf(out, size, "auto or a number from %jd to %jd", (intmax_t)setting->min,
                       (intmax_t)setting->max);
        break;
    case PAWL_SETTING_SIZE:
        (void)snprintf(out, size, "a size such as 64M, from %jdK to %jdK",
                       (intmax_t)setting->min >> 10, (intmax_t)setting->max >> 10);
        break;
    case PAWL_SETTING_DURATION:
        (void)pawl__duration_format_human(setting->min / 100, low);
        (void)pawl__duration_format_human(setting->max / 100, high);
        (void)snprintf(out, size, "a time with a unit such as 500ms or 10s, from %s to %s", low,
                       high);
        break;
    case PAWL_SETTING_BOOL:
        (void)snprintf(out, size, "true or false");
        break;
    case PAWL_SETTING_CHOICE:
        for (size_t i = 0; setting->choices[i] && len < size; i++)
            len += (size_t)snprintf(out + len, size - len, "%s%s", i == 0 ? "" : ", ",
                                    setting->choices[i]);
        break;
    case PAWL_SETTING_TEXT:
    case PAWL_SETTING_URI:
        (void)snprintf(out, size, "text without control characters");
        break;
    }
    return out;
}

static bool is_plain(struct pawl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7F)
            return false;
    return pawl__utf8_valid(text);
}

/* Whether `text` is a value of the setting; the number of those that have one. */
static bool read_value(const struct pawl_setting *setting, struct pawl_str text, int64_t *number)
{
    bool fits = false;

    switch (setting->type) {
    case PAWL_SETTING_TEXT:
    case PAWL_SETTING_URI:
        return is_plain(text);
    case PAWL_SETTING_CHOICE:
        return read_choice(text, setting->choices, number);
    case PAWL_SETTING_BOOL:
        return read_bool(text, number);
    case PAWL_SETTING_AUTO:
        *number = -1;
        if (pawl__str_equal_nocase(text, pawl__str("auto")))
            return true;
        fits = read_digits(text, number);
        break;
    case PAWL_SETTING_INT:
        fits = read_digits(text, number);
        break;
    case PAWL_SETTING_DURATION:
        fits = read_duration(text, number);
        break;
    case PAWL_SETTING_SIZE:
        fits = read_size(text, number);
        break;
    }
    return fits && *number >= setting->min && *number <= setting->max;
}

/* A value for a message: URIs without passwords, secrets not at all, the rest in full. */
static void show_value(const struct pawl_setting *setting, struct pawl_str text,
                       struct pawl_buf *out)
{
    if (setting->secret)
        pawl__buf_text(out, text.len > 0 ? "***" : "");
    else if (setting->type == PAWL_SETTING_URI)
        pawl__uri_mask(out, text);
    else
        pawl__buf_str(out, text);
}

static int refuse(struct pawl_configuration *configuration, const struct pawl_setting *setting,
                  struct pawl_str text, const char *place, struct pawl_error *err)
{
    struct pawl_buf shown;
    char wanted[160];

    pawl__buf_init(&shown, configuration->arena.alloc, 256);
    show_value(setting, pawl__str_slice(text, 0, 128), &shown);
    (void)pawl__error_set(err, PAWL_EINVAL, "%s: %s cannot be '%s': it must be %s", place,
                          setting->name, pawl__buf_cstr(&shown),
                          describe(setting, wanted, sizeof wanted));
    pawl__buf_release(&shown);
    return PAWL_EINVAL;
}

void pawl__configuration_init(struct pawl_configuration *configuration,
                              const struct pawl_allocator *alloc)
{
    *configuration = (struct pawl_configuration){.file_count = 0};
    pawl__arena_init(&configuration->arena, alloc, PAWL_CONFIGURATION_BYTES_MAX);
    for (unsigned id = 0; id < PAWL_SETTING_COUNT; id++) {
        const struct pawl_setting *setting = pawl__setting((enum pawl_setting_id)id);
        struct pawl_setting_value *value = &configuration->values[id];

        *value = (struct pawl_setting_value){.text = setting->fallback, .place = ""};
        PAWL_ASSERT(read_value(setting, pawl__str(setting->fallback), &value->number));
    }
}

void pawl__configuration_release(struct pawl_configuration *configuration)
{
    pawl__arena_release(&configuration->arena);
}

static bool has_word(struct pawl_str list, struct pawl_str word)
{
    size_t at = 0;

    while (at < list.len) {
        size_t end = pawl__str_find(list, ' ', at);

        if (pawl__str_equal(pawl__str_slice(list, at, end), word))
            return true;
        at = end == SIZE_MAX ? list.len : end + 1;
    }
    return false;
}

/* A list with the words of another one that it does not have yet; and where it comes from. */
static int add_to_list(struct pawl_configuration *configuration, struct pawl_setting_value *value,
                       struct pawl_str text, enum pawl_origin origin, const char *place,
                       struct pawl_error *err)
{
    struct pawl_arena *arena = &configuration->arena;
    const char *list = value->text, *places = value->place;
    size_t at = 0;

    while (at < text.len && list) {
        size_t end = at;
        struct pawl_str word;

        while (end < text.len && text.ptr[end] != ' ' && text.ptr[end] != ',')
            end++;
        word = pawl__str_slice(text, at, end);
        at = end + 1;
        if (word.len > 0 && !has_word(pawl__str(list), word))
            list =
                pawl__arena_printf(arena, "%s%s%.*s", list, list[0] ? " " : "", PAWL_STR_ARG(word));
    }
    places = pawl__arena_printf(arena, "%s%s%s", places, places[0] ? ", " : "", place);
    if (!list || !places)
        return pawl__error_code(err, pawl__arena_status(arena));
    *value = (struct pawl_setting_value){list, 0, origin > value->origin ? origin : value->origin,
                                         places};
    return PAWL_OK;
}

int pawl__configuration_set(struct pawl_configuration *configuration, enum pawl_setting_id id,
                            struct pawl_str text, enum pawl_origin origin, const char *place,
                            struct pawl_error *err)
{
    const struct pawl_setting *setting = pawl__setting(id);
    struct pawl_setting_value *value = &configuration->values[id];
    struct pawl_str copy, place_copy;
    int64_t number = 0;

    if (!read_value(setting, text, &number))
        return refuse(configuration, setting, text, place, err);
    if (setting->grows)
        return add_to_list(configuration, value, text, origin, place, err);
    if (origin < value->origin)
        return PAWL_OK;
    copy = pawl__arena_str(&configuration->arena, text);
    place_copy = pawl__arena_str(&configuration->arena, pawl__str(place));
    if (!copy.ptr || !place_copy.ptr)
        return pawl__error_code(err, pawl__arena_status(&configuration->arena));
    *value = (struct pawl_setting_value){copy.ptr, number, origin, place_copy.ptr};
    return PAWL_OK;
}

/* The setting of that name; COUNT, with a message behind `place`, when there is none. */
static enum pawl_setting_id find_named(struct pawl_str name, const char *place, int code,
                                       struct pawl_error *err)
{
    enum pawl_setting_id id;
    const char *near;
    char text[64];

    (void)snprintf(text, sizeof text, "%.*s", (int)(name.len < 63 ? name.len : 63), name.ptr);
    text[pawl__utf8_valid_prefix(pawl__str(text))] = '\0';
    id = name.len < sizeof text ? pawl__setting_find(text) : PAWL_SETTING_COUNT;
    if (id != PAWL_SETTING_COUNT)
        return id;
    near = pawl__setting_suggest(text);
    (void)pawl__error_set(err, code, "%s: there is no setting '%s'%s%s%s", place, text,
                          near ? "; did you mean '" : "", near ? near : "",
                          near ? "'?" : "; 'pawl config' lists them");
    return PAWL_SETTING_COUNT;
}

int pawl__configuration_set_pair(struct pawl_configuration *configuration, const char *pair,
                                 const char *place, struct pawl_error *err)
{
    struct pawl_str whole = pawl__str(pair);
    size_t equals = pawl__str_find(whole, '=', 0);
    enum pawl_setting_id id;

    if (equals == SIZE_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "%s: '%s' is not NAME=VALUE", place, pair);
    id = find_named(pawl__str_trim(pawl__str_slice(whole, 0, equals)), place, PAWL_EINVAL, err);
    if (id == PAWL_SETTING_COUNT)
        return PAWL_EINVAL;
    return pawl__configuration_set(configuration, id,
                                   pawl__str_trim(pawl__str_slice(whole, equals + 1, SIZE_MAX)),
                                   PAWL_ORIGIN_OPTION, place, err);
}

/* ---- files ------------------------------------------------------------------------------- */

static int parse_line(struct pawl_configuration *configuration, struct pawl_str line,
                      const char *place, int number, int *lines, struct pawl_error *err)
{
    size_t equals = pawl__str_find(line, '=', 0);
    struct pawl_str value;
    enum pawl_setting_id id;
    int status;

    if (equals == SIZE_MAX)
        return pawl__error_set(err, PAWL_EPARSE,
                               "%s: expected 'key = value', or '#' before a comment", place);
    id = find_named(pawl__str_trim(pawl__str_slice(line, 0, equals)), place, PAWL_EPARSE, err);
    if (id == PAWL_SETTING_COUNT)
        return PAWL_EPARSE;
    if (lines[id] != 0)
        return pawl__error_set(err, PAWL_EPARSE,
                               "%s: %s is already set in line %d; remove one of them", place,
                               pawl__setting(id)->name, lines[id]);
    lines[id] = number;
    value = pawl__str_trim(pawl__str_slice(line, equals + 1, SIZE_MAX));
    if (value.len > 0 && value.ptr[0] == '"') {
        if (value.len < 2 || value.ptr[value.len - 1] != '"')
            return pawl__error_set(err, PAWL_EPARSE, "%s: the value of %s has no closing quote",
                                   place, pawl__setting(id)->name);
        value = pawl__str_slice(value, 1, value.len - 1);
    }
    status = pawl__configuration_set(configuration, id, value, PAWL_ORIGIN_FILE, place, err);
    if (status == PAWL_EINVAL) {
        if (err)
            err->code = PAWL_EPARSE;
        return PAWL_EPARSE;
    }
    return status;
}

int pawl__configuration_parse(struct pawl_configuration *configuration, struct pawl_str text,
                              const char *name, struct pawl_error *err)
{
    struct pawl_setting_value before[PAWL_SETTING_COUNT];
    int lines[PAWL_SETTING_COUNT] = {0};
    int number = 1, status = PAWL_OK;
    size_t at = 0;

    memcpy(before, configuration->values, sizeof before);
    for (; at < text.len && status == PAWL_OK; number++) {
        size_t end = pawl__str_find(text, '\n', at);
        struct pawl_str line = pawl__str_trim(pawl__str_slice(text, at, end));
        char place[256];

        at = end == SIZE_MAX ? text.len : end + 1;
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        (void)snprintf(place, sizeof place, "%s:%d", name, number);
        status = parse_line(configuration, line, place, number, lines, err);
    }
    if (status != PAWL_OK)
        memcpy(configuration->values, before, sizeof before);
    return status;
}

/* One that was found, and not named, must be trusted. */
static int read_file(struct pawl_configuration *configuration, const char *path, bool named,
                     struct pawl_error *err)
{
    struct pawl_str copy = pawl__arena_str(&configuration->arena, pawl__str(path));
    struct pawl_buf buf;
    int status;

    if (!copy.ptr)
        return pawl__error_code(err, pawl__arena_status(&configuration->arena));
    pawl__buf_init(&buf, configuration->arena.alloc, PAWL_CONFIGURATION_FILE_MAX);
    status = named ? pawl__file_read(path, &buf, err) : pawl__file_read_trusted(path, &buf, err);
    if (status == PAWL_OK)
        status = pawl__configuration_parse(configuration, pawl__buf_peek(&buf), path, err);
    if (status == PAWL_OK)
        configuration->files[configuration->file_count++] = copy.ptr;
    pawl__buf_release(&buf);
    return status;
}

static int read_if_there(struct pawl_configuration *configuration, const char *path,
                         struct pawl_error *err)
{
    bool there = false;
    int status = pawl__file_exists(path, &there, err);

    /* A folder that may not be looked into has nothing for this user. */
    if (status == PAWL_EPERM)
        return PAWL_OK;
    return status == PAWL_OK && there ? read_file(configuration, path, false, err) : status;
}

static const char *variable(const struct pawl_configuration_sources *sources, const char *name)
{
    const char *value = sources->variable ? sources->variable(sources->ctx, name) : NULL;

    return value && value[0] != '\0' ? value : NULL;
}

static int read_users_file(struct pawl_configuration *configuration,
                           const struct pawl_configuration_sources *sources, struct pawl_error *err)
{
    const char *folder = variable(sources, "XDG_CONFIG_HOME"), *between = "/";
    char path[PATH_MAX];

    if (!folder || folder[0] != '/') {
        folder = variable(sources, "HOME");
        between = "/.config/";
    }
    if (!folder || folder[0] != '/' ||
        (size_t)snprintf(path, sizeof path, "%s%s%s", folder, between,
                         PAWL_CONFIGURATION_FILE_USER) >= sizeof path)
        return PAWL_OK;
    return read_if_there(configuration, path, err);
}

static int read_files(struct pawl_configuration *configuration,
                      const struct pawl_configuration_sources *sources, struct pawl_error *err)
{
    const char *named = sources->file;
    int status = PAWL_OK;

    if (!named)
        named = variable(sources, PAWL_CONFIGURATION_FILE_VARIABLE);
    if (!sources->no_search)
        status = read_if_there(configuration, PAWL_CONFIGURATION_FILE_SYSTEM, err);
    if (status == PAWL_OK && named)
        return read_file(configuration, named, true, err);
    if (status == PAWL_OK && !sources->no_search)
        status = read_users_file(configuration, sources, err);
    if (status == PAWL_OK && !sources->no_search)
        status = read_if_there(configuration, PAWL_CONFIGURATION_FILE_HERE, err);
    return status;
}

int pawl__configuration_read(struct pawl_configuration *configuration,
                             const struct pawl_configuration_sources *sources,
                             struct pawl_error *err)
{
    int status = read_files(configuration, sources, err);

    for (unsigned id = 0; id < PAWL_SETTING_COUNT && status == PAWL_OK; id++) {
        const char *name = pawl__setting((enum pawl_setting_id)id)->variable;
        const char *value = variable(sources, name);

        if (value)
            status = pawl__configuration_set(configuration, (enum pawl_setting_id)id,
                                             pawl__str_trim(pawl__str(value)), PAWL_ORIGIN_VARIABLE,
                                             name, err);
    }
    return status;
}

/* ---- showing ----------------------------------------------------------------------------- */

void pawl__configuration_show(const struct pawl_configuration *configuration,
                              enum pawl_setting_id id, struct pawl_buf *out)
{
    show_value(pawl__setting(id), pawl__str(configuration->values[id].text), out);
}

const char *pawl__configuration_place(const struct pawl_configuration *configuration,
                                      enum pawl_setting_id id)
{
    const struct pawl_setting_value *value = &configuration->values[id];

    return value->origin == PAWL_ORIGIN_DEFAULT ? "default" : value->place;
}
