/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations about what WriteLine printed. */
#include "conformance/expect.h"

#include <regex.h>

/* Splits a text with line breaks in it into lines. */
static int append_lines(struct running *run, struct pawl_json *lines, struct pawl_str text)
{
    size_t from = 0, end;
    int status;

    do {
        struct pawl_str line;
        struct pawl_json json;

        end = pawl__str_find(text, '\n', from);
        line = pawl__str_slice(text, from, end);
        if (end != SIZE_MAX && line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        status = pawl__json_string_copy(&run->arena, line, &json);
        if (status == PAWL_OK)
            status = pawl__json_append(&run->arena, lines, json);
        from = end + 1;
    } while (status == PAWL_OK && end != SIZE_MAX);
    return status;
}

/* What was printed, line by line. */
static const struct pawl_json *lines_of(struct running *run)
{
    const struct pawl_json *printed = &run->printed;

    if (run->lines_from == pawl__json_len(printed) && run->lines.type == PAWL_JSON_ARRAY)
        return &run->lines;
    run->lines = pawl__json_array();
    run->lines_from = pawl__json_len(printed);
    for (uint32_t i = 0; i < pawl__json_len(printed); i++) {
        if (append_lines(run, &run->lines, pawl__json_str(pawl__json_at(printed, i))) != PAWL_OK)
            break;
    }
    return &run->lines;
}

bool expect_lines(struct running *run, const struct pawl_json *list)
{
    return same(run, "lines", list, lines_of(run));
}

static uint32_t count_text(const struct pawl_json *array, struct pawl_str text)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pawl__json_len(array); i++)
        count += pawl__str_equal(pawl__json_str(pawl__json_at(array, i)), text);
    return count;
}

bool expect_lines_any_order(struct running *run, const struct pawl_json *list)
{
    const struct pawl_json *lines = lines_of(run);
    bool equal = pawl__json_len(list) == pawl__json_len(lines);

    for (uint32_t i = 0; i < pawl__json_len(list) && equal; i++) {
        struct pawl_str text = pawl__json_str(pawl__json_at(list, i));

        equal = count_text(list, text) == count_text(lines, text);
    }
    return equal || differs(run, "lines in any order: expected %s, got %s", shown(run, list),
                            shown(run, lines));
}

bool expect_lines_contain(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        if (!has_text(lines_of(run), pawl__json_str(pawl__json_at(list, i))))
            return differs(run, "no line %s in %s", shown(run, pawl__json_at(list, i)),
                           shown(run, lines_of(run)));
    }
    return true;
}

bool expect_lines_not_contain(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        if (has_text(lines_of(run), pawl__json_str(pawl__json_at(list, i))))
            return differs(run, "line %s must not be in %s", shown(run, pawl__json_at(list, i)),
                           shown(run, lines_of(run)));
    }
    return true;
}

bool expect_lines_contain_any(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *any = pawl__json_at(list, i);
        bool found = false;

        for (uint32_t k = 0; k < pawl__json_len(any); k++)
            found = found || has_text(lines_of(run), pawl__json_str(pawl__json_at(any, k)));
        if (!found)
            return differs(run, "none of %s in %s", shown(run, any), shown(run, lines_of(run)));
    }
    return true;
}

bool expect_last_line(struct running *run, const struct pawl_json *text)
{
    uint32_t count = pawl__json_len(lines_of(run));
    const struct pawl_json none = pawl__json_null();

    return same(run, "last line", text, count ? pawl__json_at(lines_of(run), count - 1) : &none);
}

static bool matches(struct pawl_str pattern, struct pawl_str line)
{
    regex_t compiled;
    bool found;

    if (regcomp(&compiled, pattern.ptr, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    found = regexec(&compiled, line.ptr, 0, NULL, 0) == 0;
    regfree(&compiled);
    return found;
}

bool expect_line_patterns(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *line = pawl__json_at(lines_of(run), i);

        if (!line || !matches(pawl__json_str(pawl__json_at(list, i)), pawl__json_str(line)))
            return differs(run, "line %u: %s does not match %s", i + 1, shown(run, line),
                           shown(run, pawl__json_at(list, i)));
    }
    return pawl__json_len(list) == pawl__json_len(lines_of(run)) ||
           differs(run, "%u lines expected, got %s", pawl__json_len(list),
                   shown(run, lines_of(run)));
}

static bool has_part(struct pawl_str text, struct pawl_str part)
{
    return memmem(text.ptr, text.len, part.ptr, part.len) != NULL;
}

bool expect_line_contains(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *line = pawl__json_at(lines_of(run), i);
        const struct pawl_json *parts = pawl__json_at(list, i);

        for (uint32_t k = 0; k < pawl__json_len(parts); k++) {
            const struct pawl_json *part = pawl__json_at(parts, k);

            if (!line || !has_part(pawl__json_str(line), pawl__json_str(part)))
                return differs(run, "line %u: no %s in %s", i + 1, shown(run, part),
                               shown(run, line));
        }
    }
    return true;
}

bool expect_line_json(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *line = pawl__json_at(lines_of(run), i);
        struct pawl_json parsed;

        if (!line || pawl__json_parse(&run->arena, pawl__json_str(line), NULL, &parsed, NULL,
                                      NULL) != PAWL_OK)
            return differs(run, "line %u is not JSON: %s", i + 1, shown(run, line));
        if (!same(run, "line as JSON", pawl__json_at(list, i), &parsed))
            return false;
    }
    return true;
}
