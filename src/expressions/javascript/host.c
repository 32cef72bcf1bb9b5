/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the host, as scripts call them. What is pure script is in boot.js. */
#include "base/base64.h"
#include "base/id.h"
#include "base/time/duration.h"
#include "engine/value/number.h"
#include "expressions/javascript/private.h"

/* What is longer is cut in messages. */
#define SECRET_NAME_MAX 100
/* A step through a list costs as much as reading so many bytes: one unit of work. */
#define BYTES_PER_STEP 32

typedef struct pawl_js native_function(struct pawl_javascript_evaluation *e,
                                       const struct pawl_js *args, uint32_t count);

struct native {
    const char *name;
    native_function *call;
};

struct pawl_js pawl__javascript_fail(struct pawl_javascript_evaluation *e, int status)
{
    if (e->status == PAWL_OK)
        e->status = status != PAWL_OK ? status : PAWL_ENOMEM;
    return pawl__js_abort(e->realm->engine);
}

static struct pawl_js text_result(struct pawl_javascript_evaluation *e, struct pawl_str text)
{
    return pawl__js_string(e->realm->engine, text);
}

/* "" reads as null where Elsa has no value. */
static struct pawl_js text_or_null(struct pawl_javascript_evaluation *e, struct pawl_str text)
{
    return text.len > 0 ? text_result(e, text) : pawl__js_null();
}

/* The nth argument as text; absent and null ones are "". */
static bool text_argument(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                          uint32_t count, uint32_t n, struct pawl_str *out)
{
    enum pawl_js_kind kind = n < count ? pawl__js_kind(args[n]) : PAWL_JS_UNDEFINED;

    *out = pawl__str("");
    if (kind == PAWL_JS_UNDEFINED || kind == PAWL_JS_NULL)
        return true;
    if (pawl__js_text(e->realm->engine, args[n], e->arena, out))
        return true;
    if (e->arena->status != PAWL_OK)
        (void)pawl__javascript_fail(e, e->arena->status);
    return false;
}

/* ---- the workflow ------------------------------------------------------------------------ */

static const struct pawl_workflow *outermost(const struct pawl_javascript_evaluation *e)
{
    const struct pawl_node *node = e->context->node;

    while (node->parent)
        node = node->parent;
    return node->workflow;
}

static struct pawl_js get_definition_id(struct pawl_javascript_evaluation *e,
                                        const struct pawl_js *args, uint32_t count)
{
    (void)args;
    (void)count;
    return outermost(e) ? text_result(e, outermost(e)->definition_id) : pawl__js_null();
}

static struct pawl_js get_definition_version_id(struct pawl_javascript_evaluation *e,
                                                const struct pawl_js *args, uint32_t count)
{
    (void)args;
    (void)count;
    return outermost(e) ? text_result(e, outermost(e)->version_id) : pawl__js_null();
}

static struct pawl_js get_definition_version(struct pawl_javascript_evaluation *e,
                                             const struct pawl_js *args, uint32_t count)
{
    (void)args;
    (void)count;
    return outermost(e) ? pawl__js_number((double)outermost(e)->version) : pawl__js_null();
}

static struct pawl_js get_instance_id(struct pawl_javascript_evaluation *e,
                                      const struct pawl_js *args, uint32_t count)
{
    (void)args;
    (void)count;
    return text_result(e, pawl__instance_id(e->context));
}

static struct pawl_js get_correlation_id(struct pawl_javascript_evaluation *e,
                                         const struct pawl_js *args, uint32_t count)
{
    (void)args;
    (void)count;
    return text_or_null(e, pawl__correlation_id(e->context));
}

static struct pawl_js set_correlation_id(struct pawl_javascript_evaluation *e,
                                         const struct pawl_js *args, uint32_t count)
{
    struct pawl_str text;
    int status;

    if (!text_argument(e, args, count, 0, &text))
        return pawl__js_exception();
    status = pawl__correlation_set(e->context, text);
    return status == PAWL_OK ? pawl__js_undefined() : pawl__javascript_fail(e, status);
}

static struct pawl_js get_instance_name(struct pawl_javascript_evaluation *e,
                                        const struct pawl_js *args, uint32_t count)
{
    (void)args;
    (void)count;
    return text_or_null(e, pawl__instance_name(e->context));
}

static struct pawl_js set_instance_name(struct pawl_javascript_evaluation *e,
                                        const struct pawl_js *args, uint32_t count)
{
    struct pawl_str text;
    int status;

    if (!text_argument(e, args, count, 0, &text))
        return pawl__js_exception();
    status = pawl__instance_name_set(e->context, text);
    return status == PAWL_OK ? pawl__js_undefined() : pawl__javascript_fail(e, status);
}

/* ---- variables, inputs, outputs ---------------------------------------------------------- */

bool pawl__javascript_variable(struct pawl_javascript_evaluation *e, struct pawl_str name,
                               struct pawl_value *out)
{
    for (const struct pawl_javascript_change *c = e->changes; c; c = c->next) {
        pawl__js_work(e->realm->engine, BYTES_PER_STEP);
        if (pawl__str_equal(c->name, name)) {
            *out = c->value;
            return true;
        }
    }
    return pawl__variable_get(e->context, name, out);
}

static struct pawl_js read_variable(struct pawl_javascript_evaluation *e, struct pawl_str name)
{
    struct pawl_value value;

    if (!pawl__javascript_variable(e, name, &value))
        return pawl__js_null();
    return pawl__javascript_to_js(e, value, false);
}

bool pawl__javascript_change(struct pawl_javascript_evaluation *e, struct pawl_str name,
                             struct pawl_value value)
{
    struct pawl_javascript_change **at = &e->changes;

    while (*at && !pawl__str_equal((*at)->name, name)) {
        pawl__js_work(e->realm->engine, BYTES_PER_STEP);
        at = &(*at)->next;
    }
    if (!*at) {
        struct pawl_javascript_change *change = pawl__arena_alloc(e->arena, sizeof *change);

        if (change)
            *change = (struct pawl_javascript_change){.name = pawl__arena_str(e->arena, name)};
        if (!change || !change->name.ptr) {
            (void)pawl__javascript_fail(e, e->arena->status);
            return false;
        }
        *at = change;
    }
    (*at)->value = value;
    return true;
}

static bool show_array(struct pawl_javascript_evaluation *e, struct pawl_str name,
                       struct pawl_value value)
{
    struct pawl_quickjs *engine = e->realm->engine;
    struct pawl_js args[3] = {e->variables, pawl__js_string(engine, name), pawl__js_undefined()};
    struct pawl_js done = pawl__js_exception();
    struct pawl_buf *text = pawl__javascript_text(e->realm);

    if (pawl__javascript_write(e, value, text)) {
        args[2] = pawl__js_string(engine, pawl__buf_peek(text));
        done = pawl__js_call(engine, e->js->roots.copied, args, 3);
    }
    pawl__js_free(engine, args[1]);
    pawl__js_free(engine, args[2]);
    return pawl__js_kind(done) != PAWL_JS_EXCEPTION;
}

/*
 * Elsa's object is a dictionary whose own members cannot be assigned to: a variable with
 * such a name is read, and set by its accessor, but not by `variables.Count = 1`.
 */
static bool is_read_only(struct pawl_str name)
{
    static const char *const members[] = {"Count", "Keys", "Values", "IsReadOnly"};

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (pawl__str_is(name, members[i]))
            return true;
    }
    return false;
}

/* Puts a value into `variables`, taking it. */
static bool put_variable(struct pawl_javascript_evaluation *e, struct pawl_str name,
                         struct pawl_js value)
{
    uint32_t flags = PAWL_JS_ENUMERABLE | PAWL_JS_CONFIGURABLE;

    if (!is_read_only(name))
        flags |= PAWL_JS_WRITABLE;
    return pawl__js_define(e->realm->engine, e->variables, name, value, flags);
}

static bool remember_shown(struct pawl_javascript_evaluation *e, struct pawl_str name,
                           struct pawl_js value)
{
    struct pawl_javascript_shown *shown = pawl__arena_alloc(e->arena, sizeof *shown);

    if (!shown) {
        (void)pawl__javascript_fail(e, e->arena->status);
        return false;
    }
    *shown = (struct pawl_javascript_shown){.name = name, .value = value, .next = e->shown};
    e->shown = shown;
    return true;
}

bool pawl__javascript_show_variable(struct pawl_javascript_evaluation *e, struct pawl_str name,
                                    struct pawl_value value)
{
    struct pawl_js made;

    if (pawl__json_is(&value.json, PAWL_JSON_ARRAY))
        return show_array(e, name, value);
    made = pawl__javascript_to_js(e, value, true);
    if (pawl__js_kind(made) == PAWL_JS_EXCEPTION)
        return false;
    /* Objects are the script's own copies, which go back; all else goes back when replaced. */
    if (!pawl__json_is(&value.json, PAWL_JSON_OBJECT) && !remember_shown(e, name, made)) {
        pawl__js_free(e->realm->engine, made);
        return false;
    }
    return put_variable(e, name, made);
}

/* The value is seen as it is until the script ends; then it is converted to the variable's type. */
static struct pawl_js write_variable(struct pawl_javascript_evaluation *e, struct pawl_str name,
                                     struct pawl_js value)
{
    struct pawl_value read;

    if (!pawl__javascript_from_js(e, value, &read) || !pawl__javascript_change(e, name, read))
        return pawl__js_exception();
    if (pawl__js_kind(e->variables) != PAWL_JS_OBJECT)
        return pawl__js_undefined();
    return put_variable(e, name, pawl__js_share(value, e->realm->engine)) ? pawl__js_undefined()
                                                                          : pawl__js_exception();
}

static struct pawl_js get_variable(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                                   uint32_t count)
{
    struct pawl_str name;

    return text_argument(e, args, count, 0, &name) ? read_variable(e, name) : pawl__js_exception();
}

static struct pawl_js set_variable(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                                   uint32_t count)
{
    struct pawl_str name;

    if (!text_argument(e, args, count, 0, &name))
        return pawl__js_exception();
    return write_variable(e, name, count > 1 ? args[1] : pawl__js_undefined());
}

struct pawl_js pawl__javascript_input(struct pawl_javascript_evaluation *e, struct pawl_str name)
{
    struct pawl_value value;

    if (!pawl__workflow_input(e->context, name, &value))
        return pawl__js_null();
    return pawl__javascript_to_js(e, value, false);
}

static struct pawl_js get_input(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                                uint32_t count)
{
    struct pawl_str name;

    return text_argument(e, args, count, 0, &name) ? pawl__javascript_input(e, name)
                                                   : pawl__js_exception();
}

static struct pawl_js read_output(struct pawl_javascript_evaluation *e, struct pawl_str activity,
                                  struct pawl_str output)
{
    struct pawl_value value;

    if (pawl__output_from(e->context, activity, output, &value) == PAWL_ENOTFOUND)
        return pawl__js_throw(e->realm->engine, "Activity not found.");
    return pawl__javascript_to_js(e, value, false);
}

static struct pawl_js get_output_from(struct pawl_javascript_evaluation *e,
                                      const struct pawl_js *args, uint32_t count)
{
    struct pawl_str activity;
    struct pawl_str output;

    if (!text_argument(e, args, count, 0, &activity) || !text_argument(e, args, count, 1, &output))
        return pawl__js_exception();
    return read_output(e, activity, output.len > 0 ? output : pawl__str("Result"));
}

static struct pawl_js get_last_result(struct pawl_javascript_evaluation *e,
                                      const struct pawl_js *args, uint32_t count)
{
    (void)args;
    (void)count;
    return pawl__javascript_to_js(e, pawl__last_result(e->context), false);
}

static struct pawl_js call_accessor(struct pawl_javascript_evaluation *e, uint32_t index,
                                    const struct pawl_js *args, uint32_t count)
{
    struct pawl_javascript_accessor accessor =
        index < e->realm->accessor_count
            ? pawl__javascript_accessor(e, e->realm->accessor_names[index])
            : (struct pawl_javascript_accessor){.kind = PAWL_JAVASCRIPT_NO_ACCESSOR};

    switch (accessor.kind) {
    case PAWL_JAVASCRIPT_GET_VARIABLE:
        return read_variable(e, accessor.name);
    case PAWL_JAVASCRIPT_SET_VARIABLE:
        return write_variable(e, accessor.name, count > 0 ? args[0] : pawl__js_undefined());
    case PAWL_JAVASCRIPT_GET_INPUT:
        return pawl__javascript_input(e, accessor.name);
    case PAWL_JAVASCRIPT_GET_OUTPUT:
        return read_output(e, accessor.node->id, accessor.name);
    case PAWL_JAVASCRIPT_GET_ARGUMENT:
        return pawl__javascript_to_js(
            e, pawl__value_from_json(*pawl__json_get(&e->context->arguments, accessor.name)),
            false);
    case PAWL_JAVASCRIPT_NO_ACCESSOR:
        break;
    }
    return pawl__js_undefined();
}

/* ---- outcomes, settings ------------------------------------------------------------------ */

static struct pawl_js add_outcome(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                                  uint32_t count)
{
    struct pawl_javascript_run *run = e->run;
    struct pawl_str name;

    if (!run->takes_outcomes)
        return pawl__js_throw(
            e->realm->engine,
            "setOutcome and setOutcomes exist only in the activity RunJavaScript.");
    if (!text_argument(e, args, count, 0, &name))
        return pawl__js_exception();
    if (run->outcome_count == e->outcome_cap) {
        uint32_t cap = e->outcome_cap * 2 + 4;
        struct pawl_str *grown = pawl__arena_alloc_array(e->arena, cap, sizeof *grown);

        if (!grown)
            return pawl__javascript_fail(e, e->arena->status);
        if (run->outcome_count > 0)
            memcpy(grown, run->outcomes, run->outcome_count * sizeof *grown);
        run->outcomes = grown;
        e->outcome_cap = cap;
    }
    run->outcomes[run->outcome_count++] = name;
    return pawl__js_undefined();
}

static struct pawl_js get_config(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                                 uint32_t count)
{
    const struct pawl_javascript_options *options = &e->js->options;
    const char *const *listed = options->config_names;
    const char *setting;
    struct pawl_str name;

    if (!text_argument(e, args, count, 0, &name))
        return pawl__js_exception();
    while (listed && *listed && !pawl__str_is(name, *listed))
        listed++;
    if (!listed || !*listed || !options->config)
        return pawl__js_throw(e->realm->engine,
                              "Scripts may not read this setting: it is not on the list of "
                              "settings that are open to scripts.");
    setting = options->config(options->config_ctx, *listed);
    return setting ? text_result(e, pawl__str(setting)) : pawl__js_null();
}

/* Says so at once, also to a script that does not wait for the promise that it expects. */
static struct pawl_js get_secret(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                                 uint32_t count)
{
    struct pawl_str name;
    const char *message;

    if (!text_argument(e, args, count, 0, &name))
        return pawl__js_exception();
    message = pawl__arena_printf(
        e->arena,
        "The secret '%.*s' cannot be read: there is no store of secrets here. Give it to the "
        "workflow as an input, or as a setting that getConfig() may read.",
        PAWL_STR_ARG(pawl__str_slice(name, 0, SECRET_NAME_MAX)));
    return message ? pawl__js_throw(e->realm->engine, message)
                   : pawl__javascript_fail(e, e->arena->status);
}

/* The lifetime is a text of TimeSpan; "": for ever. */
static struct pawl_js event_url(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                                uint32_t count)
{
    const struct pawl_javascript_options *options = &e->js->options;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_str name, life, url;
    int64_t ticks = 0;

    if (!text_argument(e, args, count, 0, &name) || !text_argument(e, args, count, 1, &life))
        return pawl__js_exception();
    if (!options->event_url)
        return pawl__js_throw(e->realm->engine, "There is no server here that such links lead to.");
    if (life.len > 0 && (pawl__duration_parse_constant(life, &ticks, &err) != PAWL_OK || ticks <= 0))
        return pawl__js_throw(e->realm->engine, "A lifetime is a TimeSpan of more than nothing.");
    if (options->event_url(options->event_url_ctx, e->arena, pawl__instance_id(e->context), name,
                           ticks, &url, &err) != PAWL_OK)
        return e->arena->status != PAWL_OK ? pawl__javascript_fail(e, e->arena->status)
                                           : pawl__js_throw(e->realm->engine, err.msg);
    return text_result(e, url);
}

/* ---- chance ------------------------------------------------------------------------------ */

static struct pawl_js new_guid(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                               uint32_t count)
{
    struct pawl_str text = pawl__new_guid(e->context);

    (void)args;
    (void)count;
    return text.len > 0 ? text_result(e, text) : pawl__javascript_fail(e, e->arena->status);
}

/* 16 random bytes in base64, without what may not stand in a URL. */
static struct pawl_js new_short_guid(struct pawl_javascript_evaluation *e,
                                     const struct pawl_js *args, uint32_t count)
{
    struct pawl_str text = pawl__new_guid(e->context);
    struct pawl_uuid uuid;
    char encoded[25];
    size_t kept = 0;

    (void)args;
    (void)count;
    if (pawl__uuid_parse(text, &uuid, NULL) != PAWL_OK)
        return pawl__javascript_fail(e, e->arena->status);
    pawl__base64_encode(uuid.bytes, sizeof uuid.bytes, encoded);
    for (size_t i = 0; i < pawl__base64_len(sizeof uuid.bytes); i++) {
        if (!strchr("/+=", encoded[i]))
            encoded[kept++] = encoded[i];
    }
    return text_result(e, pawl__str_make(encoded, kept));
}

static struct pawl_js parse_guid(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                                 uint32_t count)
{
    char text[PAWL_UUID_TEXT_SIZE];
    struct pawl_uuid uuid;
    struct pawl_str given;

    if (!text_argument(e, args, count, 0, &given))
        return pawl__js_exception();
    if (pawl__uuid_parse(pawl__str_trim(given), &uuid, NULL) != PAWL_OK)
        return pawl__js_throw(e->realm->engine, "Unrecognized Guid format.");
    pawl__uuid_format(&uuid, text);
    return text_result(e, pawl__str(text));
}

/* splitmix64, from a seed that the burst's own chance gives on first use. */
static struct pawl_js random_number(struct pawl_javascript_evaluation *e,
                                    const struct pawl_js *args, uint32_t count)
{
    uint64_t z;

    (void)args;
    (void)count;
    if (!e->random_ready) {
        struct pawl_str text = pawl__new_guid(e->context);
        struct pawl_uuid uuid;

        if (pawl__uuid_parse(text, &uuid, NULL) != PAWL_OK)
            return pawl__javascript_fail(e, e->arena->status);
        memcpy(&e->random, uuid.bytes + 8, sizeof e->random);
        e->random_ready = true;
    }
    e->random += UINT64_C(0x9e3779b97f4a7c15);
    z = e->random;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return pawl__js_number((double)(z >> 11) * 0x1.0p-53);
}

/* ---- texts and bytes --------------------------------------------------------------------- */

static struct pawl_js is_bytes(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                               uint32_t count)
{
    struct pawl_str bytes;

    return pawl__js_bool(count > 0 && pawl__js_peek_bytes(e->realm->engine, args[0], &bytes));
}

static bool bytes_argument(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                           uint32_t count, struct pawl_str *out)
{
    if (count > 0 && pawl__js_peek_bytes(e->realm->engine, args[0], out))
        return true;
    (void)pawl__js_throw(e->realm->engine, "An array of bytes was expected.");
    return false;
}

static struct pawl_js bytes_to_string(struct pawl_javascript_evaluation *e,
                                      const struct pawl_js *args, uint32_t count)
{
    struct pawl_str bytes;
    struct pawl_str copy;

    if (!bytes_argument(e, args, count, &bytes))
        return pawl__js_exception();
    copy = pawl__arena_str(e->arena, bytes);
    return copy.ptr ? text_result(e, copy) : pawl__javascript_fail(e, e->arena->status);
}

static struct pawl_js bytes_from_string(struct pawl_javascript_evaluation *e,
                                        const struct pawl_js *args, uint32_t count)
{
    struct pawl_str text;

    return text_argument(e, args, count, 0, &text) ? pawl__js_bytes(e->realm->engine, text)
                                                   : pawl__js_exception();
}

static struct pawl_js bytes_to_base64(struct pawl_javascript_evaluation *e,
                                      const struct pawl_js *args, uint32_t count)
{
    struct pawl_str bytes;
    size_t len;
    char *text;

    if (!bytes_argument(e, args, count, &bytes))
        return pawl__js_exception();
    len = pawl__base64_len(bytes.len);
    text = pawl__arena_alloc(e->arena, len + 1);
    if (!text)
        return pawl__javascript_fail(e, e->arena->status);
    pawl__base64_encode((const unsigned char *)bytes.ptr, bytes.len, text);
    return text_result(e, pawl__str_make(text, len));
}

static struct pawl_js bytes_from_base64(struct pawl_javascript_evaluation *e,
                                        const struct pawl_js *args, uint32_t count)
{
    struct pawl_str text;
    unsigned char *bytes;
    size_t len;

    if (!text_argument(e, args, count, 0, &text))
        return pawl__js_exception();
    len = pawl__base64_decode(text, NULL);
    if (len == SIZE_MAX)
        return pawl__js_throw(e->realm->engine, "The input is not a valid Base-64 string.");
    bytes = pawl__arena_alloc(e->arena, len + 1);
    if (!bytes)
        return pawl__javascript_fail(e, e->arena->status);
    (void)pawl__base64_decode(text, bytes);
    return pawl__js_bytes(e->realm->engine, pawl__str_make((const char *)bytes, len));
}

/* Numbers of scripts are doubles, which the host writes in its own way: 1E+20. */
static int use_net_numbers(struct pawl_javascript_evaluation *e, struct pawl_json *json)
{
    bool is_object = json->type == PAWL_JSON_OBJECT;
    int status = PAWL_OK;
    double number;

    for (uint32_t i = 0; i < pawl__json_len(json) && status == PAWL_OK; i++)
        status = use_net_numbers(e, is_object ? &pawl__json_member(json, i)->value
                                              : pawl__json_at(json, i));
    if (pawl__json_to_double(json, &number)) {
        struct pawl_buf *text = pawl__javascript_text(e->realm);

        pawl__number_write_double(text, number, false);
        status = text->status == PAWL_OK ? pawl__json_number(e->arena, pawl__buf_peek(text), json)
                                         : text->status;
    }
    return status;
}

/* Given {"v":…}, the text of the member as Elsa writes JSON. */
static struct pawl_js to_json(struct pawl_javascript_evaluation *e, const struct pawl_js *args,
                              uint32_t count)
{
    struct pawl_json parsed;
    struct pawl_str text;
    struct pawl_buf *out;
    int status;

    if (!text_argument(e, args, count, 0, &text))
        return pawl__js_exception();
    status = pawl__json_parse(e->arena, text, NULL, &parsed, NULL, NULL);
    if (status != PAWL_OK)
        return pawl__js_throw(e->realm->engine, "The value has no JSON form.");
    status = use_net_numbers(e, &parsed);
    if (status != PAWL_OK)
        return pawl__javascript_fail(e, status);
    out = pawl__javascript_text(e->realm);
    pawl__json_write(out, pawl__json_get_text(&parsed, "v"), PAWL_JSON_ESCAPE_HTML);
    return out->status == PAWL_OK ? text_result(e, pawl__buf_peek(out))
                                  : pawl__javascript_fail(e, out->status);
}

static struct pawl_js time_span_text(struct pawl_javascript_evaluation *e,
                                     const struct pawl_js *args, uint32_t count)
{
    char text[PAWL_DURATION_TEXT_SIZE];
    double ms =
        count > 0 && pawl__js_kind(args[0]) == PAWL_JS_NUMBER ? pawl__js_to_double(args[0]) : 0;

    if (!(ms > -9e14 && ms < 9e14))
        return pawl__js_throw(e->realm->engine, "The time span is too long.");
    (void)pawl__duration_format((int64_t)(ms * 10000), text);
    return text_result(e, pawl__str(text));
}

/* ---- functions that the host added ------------------------------------------------------- */

static struct pawl_js call_added(struct pawl_javascript_evaluation *e, uint32_t index,
                                 const struct pawl_js *args, uint32_t count)
{
    const struct pawl_javascript_function *function = &e->js->functions[index];
    struct pawl_json list = pawl__json_array();
    struct pawl_json result = pawl__json_null();
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = PAWL_OK;

    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        struct pawl_value value;

        if (!pawl__javascript_from_js(e, args[i], &value))
            return pawl__js_exception();
        if (!pawl__value_is_finite(&value.json))
            return pawl__js_throw(e->realm->engine, "NaN and Infinity are no values outside of the "
                                                    "script: give the function a number.");
        status = pawl__json_append(e->arena, &list, value.json);
    }
    if (status != PAWL_OK)
        return pawl__javascript_fail(e, status);
    status = function->call(function->ctx, e->arena, &list, &result, &err);
    if (status == PAWL_ENOMEM || e->arena->status != PAWL_OK)
        return pawl__javascript_fail(e, status);
    if (status != PAWL_OK)
        return pawl__js_throw(e->realm->engine, err.code ? err.msg : pawl_error_text(status));
    return pawl__javascript_to_js(e, pawl__value_from_json(result), true);
}

static const struct native natives[] = {
    {"getWorkflowDefinitionId", get_definition_id},
    {"getWorkflowDefinitionVersionId", get_definition_version_id},
    {"getWorkflowDefinitionVersion", get_definition_version},
    {"getWorkflowInstanceId", get_instance_id},
    {"getCorrelationId", get_correlation_id},
    {"setCorrelationId", set_correlation_id},
    {"getWorkflowInstanceName", get_instance_name},
    {"setWorkflowInstanceName", set_instance_name},
    {"getVariable", get_variable},
    {"setVariable", set_variable},
    {"getInput", get_input},
    {"getOutputFrom", get_output_from},
    {"getLastResult", get_last_result},
    {"getConfig", get_config},
    {"getSecret", get_secret},
    {"eventUrl", event_url},
    {"addOutcome", add_outcome},
    {"newGuid", new_guid},
    {"newShortGuid", new_short_guid},
    {"parseGuid", parse_guid},
    {"random", random_number},
    {"isBytes", is_bytes},
    {"bytesToString", bytes_to_string},
    {"bytesFromString", bytes_from_string},
    {"bytesToBase64", bytes_to_base64},
    {"bytesFromBase64", bytes_from_base64},
    {"toJson", to_json},
    {"timeSpanText", time_span_text},
};

#define NATIVE_COUNT ((uint32_t)(sizeof natives / sizeof *natives))
#define ADDED_FIRST 128u
_Static_assert(sizeof natives / sizeof *natives <= ADDED_FIRST, "numbers would overlap");
_Static_assert(ADDED_FIRST + JAVASCRIPT_FUNCTIONS_MAX <= JAVASCRIPT_ACCESSOR_FIRST, "likewise");

const char *pawl__javascript_native_name(uint32_t number)
{
    return number < NATIVE_COUNT ? natives[number].name : NULL;
}

uint32_t pawl__javascript_added_number(uint32_t index)
{
    return ADDED_FIRST + index;
}

struct pawl_js pawl__javascript_host_call(void *ctx, struct pawl_quickjs *js, uint32_t number,
                                          const struct pawl_js *args, uint32_t count)
{
    struct pawl_javascript_evaluation *e = ctx;

    /* Outside of an evaluation nothing of the host exists: the text is only looked at. */
    if (!e || !e->context)
        return pawl__js_throw(js, "There is no workflow here.");
    if (number >= JAVASCRIPT_ACCESSOR_FIRST)
        return call_accessor(e, number - JAVASCRIPT_ACCESSOR_FIRST, args, count);
    if (number >= ADDED_FIRST)
        return number - ADDED_FIRST < e->js->function_count
                   ? call_added(e, number - ADDED_FIRST, args, count)
                   : pawl__js_undefined();
    return number < NATIVE_COUNT ? natives[number].call(e, args, count) : pawl__js_undefined();
}
