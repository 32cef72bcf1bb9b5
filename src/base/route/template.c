/* SPDX-License-Identifier: Apache-2.0 */
/* Route templates; see template.h. */
#include "base/route/template.h"

#include "base/error.h"
#include "base/route/constraint.h"

/* ---- reading ----------------------------------------------------------------------------- */

struct reader {
    struct pawl_route_template *out;
    struct pawl_str whole; /* for messages */
    struct pawl_error *err;
};

static int refuse(const struct reader *reader, const char *why)
{
    return pawl__error_set(reader->err, PAWL_EINVAL, "the path \"%.*s\" is no route: %s",
                           PAWL_STR_ARG(pawl__utf8_cut(reader->whole, 200)), why);
}

static int add_part(struct reader *reader, struct pawl_route_part part)
{
    struct pawl_route_template *out = reader->out;

    if (out->part_count == PAWL_ROUTE_TEMPLATE_PARTS_MAX)
        return refuse(reader, "it has too many parts");
    out->parts[out->part_count++] = part;
    out->segments[out->segment_count - 1].part_count++;
    return PAWL_OK;
}

/* Behind the brace that closes the one at `at`, parentheses and what they hold skipped; 0: none. */
static size_t parameter_end(struct pawl_str text, size_t at)
{
    size_t depth = 0;

    for (at++; at < text.len; at++) {
        if (text.ptr[at] == '(')
            depth++;
        else if (text.ptr[at] == ')' && depth > 0)
            depth--;
        else if (depth == 0 && text.ptr[at] == '}')
            return at + 1;
        else if (depth == 0 && text.ptr[at] == '{')
            return 0;
    }
    return 0;
}

/* The first of two bytes outside of parentheses; the length when there is none. */
static size_t find_outside(struct pawl_str text, char one, char other)
{
    size_t depth = 0, at = 0;

    for (; at < text.len; at++) {
        if (text.ptr[at] == '(')
            depth++;
        else if (text.ptr[at] == ')' && depth > 0)
            depth--;
        else if (depth == 0 && (text.ptr[at] == one || text.ptr[at] == other))
            break;
    }
    return at;
}

static bool is_name(struct pawl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr("{}/?*:=()", text.ptr[i]) || (unsigned char)text.ptr[i] <= ' ')
            return false;
    }
    return text.len > 0;
}

static bool name_is_taken(const struct pawl_route_template *template, struct pawl_str name)
{
    for (size_t i = 0; i < template->part_count; i++) {
        if (template->parts[i].parameter && pawl__str_equal_nocase(template->parts[i].text, name))
            return true;
    }
    return false;
}

/* What is between the braces: **name:constraints=default?. */
static int read_parameter(struct reader *reader, struct pawl_str inside)
{
    struct pawl_route_part part = {.parameter = true};
    size_t name_end, constraints_end;

    if (inside.len > 0 && inside.ptr[0] == '*') {
        part.rest = true;
        inside =
            pawl__str_slice(inside, inside.len > 1 && inside.ptr[1] == '*' ? 2 : 1, inside.len);
    }
    name_end = find_outside(inside, ':', '=');
    if (name_end == inside.len && inside.len > 0 && inside.ptr[inside.len - 1] == '?')
        name_end--;
    part.text = pawl__str_slice(inside, 0, name_end);
    inside = pawl__str_slice(inside, name_end, inside.len);
    constraints_end = find_outside(inside, '=', '=');
    if (constraints_end < inside.len) {
        part.fallback = pawl__str_slice(inside, constraints_end + 1, inside.len);
    } else if (inside.len > 0 && inside.ptr[inside.len - 1] == '?') {
        part.optional = true;
        constraints_end--;
    }
    if (constraints_end > 0)
        part.constraints = pawl__str_slice(inside, 1, constraints_end);
    if (!is_name(part.text))
        return refuse(reader, "a parameter needs a name of letters and digits");
    if (part.rest && part.optional)
        return refuse(reader, "a parameter that takes the rest cannot be optional");
    if (name_is_taken(reader->out, part.text))
        return refuse(reader, "two parameters have one name");
    if (++reader->out->parameter_count > PAWL_ROUTE_VALUES_MAX)
        return refuse(reader, "it has too many parameters");
    return add_part(reader, part);
}

static size_t literal_end(struct pawl_str text, size_t at)
{
    while (at < text.len && text.ptr[at] != '{' && text.ptr[at] != '}')
        at++;
    return at;
}

static int read_parts(struct reader *reader, struct pawl_str segment)
{
    size_t at = 0;
    int status = PAWL_OK;

    while (at < segment.len && status == PAWL_OK) {
        size_t end = literal_end(segment, at);

        if (end > at) {
            struct pawl_str literal = pawl__str_slice(segment, at, end);

            if (pawl__str_find(literal, '?', 0) != SIZE_MAX)
                return refuse(reader, "a literal has a question mark");
            status = add_part(reader, (struct pawl_route_part){.text = literal});
        } else {
            end = segment.ptr[at] == '{' ? parameter_end(segment, at) : 0;
            if (end == 0)
                return refuse(reader, "its braces do not pair");
            status = read_parameter(reader, pawl__str_slice(segment, at + 1, end - 1));
        }
        at = end;
    }
    return status;
}

/* What a segment of several parts must not be. */
static int check_segment(struct reader *reader, const struct pawl_route_segment *segment)
{
    const struct pawl_route_part *parts = reader->out->parts + segment->part_first;

    if (segment->part_count == 1 && !parts[0].parameter &&
        (pawl__str_is(parts[0].text, ".") || pawl__str_is(parts[0].text, "..")))
        return refuse(reader, "a segment of dots is never matched");
    for (size_t i = 0; i < segment->part_count && segment->part_count > 1; i++) {
        if (i > 0 && parts[i].parameter && parts[i - 1].parameter)
            return refuse(reader, "two parameters stand side by side");
        if (parts[i].rest)
            return refuse(reader, "a parameter that takes the rest is a segment of its own");
        if (parts[i].fallback.ptr)
            return refuse(reader, "a parameter with a default is a segment of its own");
        if (parts[i].optional &&
            (i + 1 < segment->part_count || i < 2 || !pawl__str_is(parts[i - 1].text, ".")))
            return refuse(reader,
                          "within a segment only what follows a dot at the end is optional");
    }
    return PAWL_OK;
}

/* Where a segment ends: at a slash outside of braces. */
static size_t segment_end(struct pawl_str text, size_t at)
{
    while (at < text.len && text.ptr[at] != '/') {
        size_t end = text.ptr[at] == '{' ? parameter_end(text, at) : 0;

        at = end > 0 ? end : at + 1;
    }
    return at;
}

static int read_segment(struct reader *reader, struct pawl_str text)
{
    struct pawl_route_template *out = reader->out;
    struct pawl_route_segment *segment;
    int status;

    if (text.len == 0)
        return refuse(reader, "it has an empty segment (\"//\")");
    if (out->segment_count == PAWL_ROUTE_SEGMENTS_MAX)
        return refuse(reader, "it has too many segments");
    if (out->segment_count > 0) {
        const struct pawl_route_part *last = &out->parts[out->part_count - 1];

        if (last->rest || last->optional)
            return refuse(reader, "what is optional or takes the rest must be at its end");
    }
    segment = &out->segments[out->segment_count++];
    *segment = (struct pawl_route_segment){.text = text, .part_first = out->part_count};
    status = read_parts(reader, text);
    return status == PAWL_OK ? check_segment(reader, segment) : status;
}

int pawl__route_template_parse(struct pawl_str text, struct pawl_route_template *out,
                               struct pawl_error *err)
{
    struct reader reader = {.out = out, .whole = text, .err = err};
    int status = PAWL_OK;

    out->segment_count = out->part_count = out->parameter_count = 0;
    if (text.len > PAWL_ROUTE_TEMPLATE_BYTES_MAX)
        return refuse(&reader, "it is too long");
    if (!pawl__utf8_valid(text) || pawl__str_find(text, '\0', 0) != SIZE_MAX)
        return refuse(&reader, "it is not UTF-8");
    if (pawl__str_is(text, "//"))
        return refuse(&reader, "it has an empty segment (\"//\")");
    if (text.len > 0 && text.ptr[0] == '/')
        text = pawl__str_slice(text, 1, text.len);
    if (text.len > 0 && text.ptr[text.len - 1] == '/')
        text.len--;
    for (size_t at = 0; at < text.len && status == PAWL_OK;) {
        size_t end = segment_end(text, at);

        status = read_segment(&reader, pawl__str_slice(text, at, end));
        if (status == PAWL_OK && end + 1 == text.len)
            status = refuse(&reader, "it has an empty segment (\"//\")");
        at = end + 1;
    }
    return status;
}

/* ---- matching ---------------------------------------------------------------------------- */

static bool take_value(const struct pawl_route_part *part, struct pawl_str value,
                       struct pawl_route_values *values)
{
    if (part->constraints.len > 0 && !pawl__route_constraints_hold(part->constraints, value))
        return false;
    if (values)
        values->items[values->count++] = (struct pawl_route_value){part->text, value};
    return true;
}

/* Where the last `literal` in text is, all of it before `end`; SIZE_MAX: nowhere. */
static size_t find_last(struct pawl_str text, struct pawl_str literal, size_t end)
{
    if (literal.len > end)
        return SIZE_MAX;
    for (size_t at = end - literal.len + 1; at-- > 0;) {
        if (pawl__str_equal_nocase(pawl__str_slice(text, at, at + literal.len), literal))
            return at;
    }
    return SIZE_MAX;
}

/*
 * Several parts, from the right: each literal is found as far right as it can be, as ASP.NET does
 * it, and what is between two of them is a parameter's. Nothing is tried twice.
 */
static bool match_parts(const struct pawl_route_part *parts, size_t count, struct pawl_str text,
                        struct pawl_str found[PAWL_ROUTE_TEMPLATE_PARTS_MAX])
{
    size_t end = text.len;

    for (size_t i = count; i-- > 0;) {
        size_t at, behind;

        if (parts[i].parameter)
            continue;
        behind = i + 1 < count ? end - 1 : end; /* a parameter that follows is not empty */
        if (i + 1 < count && end == 0)
            return false;
        at = find_last(text, parts[i].text, behind);
        if (at == SIZE_MAX || (i + 1 == count && at + parts[i].text.len != text.len))
            return false;
        if (i + 1 < count)
            found[i + 1] = pawl__str_slice(text, at + parts[i].text.len, end);
        end = at;
    }
    if (!parts[0].parameter)
        return end == 0;
    found[0] = pawl__str_slice(text, 0, end);
    return end > 0;
}

static bool match_segment_parts(const struct pawl_route_part *parts, size_t count,
                                struct pawl_str text, struct pawl_route_values *values)
{
    struct pawl_str found[PAWL_ROUTE_TEMPLATE_PARTS_MAX];

    if (!match_parts(parts, count, text, found)) {
        /* "{name}.{ext?}" without the dot, too. */
        if (!parts[count - 1].optional || !match_parts(parts, count - 2, text, found))
            return false;
        count -= 2;
    }
    for (size_t i = 0; i < count; i++) {
        if (parts[i].parameter && !take_value(&parts[i], found[i], values))
            return false;
    }
    return true;
}

bool pawl__route_segment_match(const struct pawl_route_template *template, size_t segment,
                               struct pawl_str text, struct pawl_route_values *values)
{
    const struct pawl_route_segment *at = &template->segments[segment];
    const struct pawl_route_part *part = &template->parts[at->part_first];

    if (at->part_count > 1)
        return match_segment_parts(part, at->part_count, text, values);
    return part->parameter ? take_value(part, text, values)
                           : pawl__str_equal_nocase(part->text, text);
}

static bool may_be_absent(const struct pawl_route_part *part)
{
    return part->optional || part->rest || part->fallback.ptr;
}

static const struct pawl_route_part *only_part(const struct pawl_route_template *template,
                                               size_t segment)
{
    const struct pawl_route_segment *at = &template->segments[segment];

    return at->part_count == 1 ? &template->parts[at->part_first] : NULL;
}

bool pawl__route_segment_absent(const struct pawl_route_template *template, size_t segment)
{
    const struct pawl_route_part *part = only_part(template, segment);

    return part && may_be_absent(part);
}

static void add_absent(const struct pawl_route_part *part, struct pawl_route_values *values)
{
    if (values && !part->optional)
        values->items[values->count++] = (struct pawl_route_value){part->text, part->fallback};
}

bool pawl__route_template_match(const struct pawl_route_template *template,
                                const struct pawl_route_path *path,
                                struct pawl_route_values *values)
{
    size_t at = 0;

    if (values)
        values->count = 0;
    for (; at < template->segment_count && at < path->count; at++) {
        const struct pawl_route_part *part = only_part(template, at);

        if (part && part->rest)
            return take_value(part,
                              pawl__str_slice(path->text,
                                              (size_t)(path->segments[at].ptr - path->text.ptr),
                                              path->text.len),
                              values);
        if (!pawl__route_segment_match(template, at, path->segments[at], values))
            return false;
    }
    if (at < path->count)
        return false;
    for (; at < template->segment_count; at++) {
        if (!pawl__route_segment_absent(template, at))
            return false;
        add_absent(only_part(template, at), values);
    }
    return true;
}

/* ---- order ------------------------------------------------------------------------------- */

int pawl__route_segment_rank(const struct pawl_route_template *template, size_t segment)
{
    const struct pawl_route_part *part = only_part(template, segment);

    if (!part)
        return 2;
    if (!part->parameter)
        return 1;
    return (part->rest ? 5 : 3) - (part->constraints.len > 0);
}

static int compare_nocase(struct pawl_str a, struct pawl_str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        int one = a.ptr[i] >= 'A' && a.ptr[i] <= 'Z' ? a.ptr[i] | 0x20 : (unsigned char)a.ptr[i];
        int two = b.ptr[i] >= 'A' && b.ptr[i] <= 'Z' ? b.ptr[i] | 0x20 : (unsigned char)b.ptr[i];

        if (one != two)
            return one - two;
    }
    return (a.len > b.len) - (a.len < b.len);
}

static int compare_parts(const struct pawl_route_part *a, const struct pawl_route_part *b)
{
    if (a->parameter != b->parameter)
        return a->parameter - b->parameter;
    if (!a->parameter)
        return compare_nocase(a->text, b->text);
    if (may_be_absent(a) != may_be_absent(b))
        return may_be_absent(a) - may_be_absent(b);
    return pawl__str_compare(a->constraints, b->constraints);
}

int pawl__route_segment_compare(const struct pawl_route_template *a, size_t segment_a,
                                const struct pawl_route_template *b, size_t segment_b)
{
    const struct pawl_route_segment *one = &a->segments[segment_a], *two = &b->segments[segment_b];
    int difference =
        pawl__route_segment_rank(a, segment_a) - pawl__route_segment_rank(b, segment_b);

    for (size_t i = 0; difference == 0 && i < one->part_count && i < two->part_count; i++)
        difference = compare_parts(&a->parts[one->part_first + i], &b->parts[two->part_first + i]);
    return difference != 0 ? difference : (int)one->part_count - (int)two->part_count;
}

int pawl__route_template_compare(const struct pawl_route_template *a,
                                 const struct pawl_route_template *b)
{
    for (size_t i = 0; i < a->segment_count && i < b->segment_count; i++) {
        int difference = pawl__route_segment_compare(a, i, b, i);

        if (difference != 0)
            return difference;
    }
    return (int)a->segment_count - (int)b->segment_count;
}

static void add_lower(struct pawl_buf *out, struct pawl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        pawl__buf_byte(out, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
}

void pawl__route_segment_shape(const struct pawl_route_template *template, size_t segment,
                               struct pawl_buf *out)
{
    const struct pawl_route_segment *at = &template->segments[segment];

    for (size_t i = at->part_first; i < (size_t)at->part_first + at->part_count; i++) {
        const struct pawl_route_part *part = &template->parts[i];

        if (!part->parameter) {
            add_lower(out, part->text);
            continue;
        }
        pawl__buf_text(out, part->rest ? "{*" : "{");
        if (part->constraints.len > 0)
            pawl__buf_byte(out, ':');
        pawl__buf_str(out, part->constraints);
        pawl__buf_text(out, !part->rest && (part->optional || part->fallback.ptr) ? "?}" : "}");
    }
}

void pawl__route_template_shape(const struct pawl_route_template *template, struct pawl_buf *out)
{
    for (size_t i = 0; i < template->segment_count; i++) {
        pawl__buf_byte(out, '/');
        pawl__route_segment_shape(template, i, out);
    }
    if (template->segment_count == 0)
        pawl__buf_byte(out, '/');
}
