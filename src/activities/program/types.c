/* SPDX-License-Identifier: Apache-2.0 */
/* Types of a program's activities, and their calls; see program.h. */
#include "activities/program/program.h"

#include "base/error.h"
#include "base/hash/stimulus.h"
#include "engine/builder.h"
#include "engine/context.h"

#define TYPE_BYTES_MAX 127
#define MEMBERS_MAX 1000u

_Static_assert(PAWL_FAULTED == ENGINE_RAISED, "answers pass through");

/* ---- descriptors --------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Words with dots between them. */
static bool is_name(const char *name, bool dots)
{
    size_t len = name ? strlen(name) : 0;

    if (len == 0 || len > TYPE_BYTES_MAX || name[0] == '.' || name[len - 1] == '.')
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_word(name[i]) && !(dots && name[i] == '.' && name[i + 1] != '.'))
            return false;
    }
    return true;
}

/* What is shown of it, to people and in documents. Names are checked elsewhere. */
static int check_words(const struct pawl_activity_type *type, struct pawl_error *err)
{
    int status = pawl__text_check_utf8(type->category, "an activity's category", err);

    if (status == PAWL_OK)
        status = pawl__text_check_utf8(type->display_name, "an activity's display_name", err);
    if (status == PAWL_OK)
        status = pawl__text_check_utf8(type->description, "an activity's description", err);
    for (size_t i = 0; i < type->input_count && status == PAWL_OK; i++)
        status = pawl__text_check_utf8(type->inputs[i].description, "an input's description", err);
    for (size_t i = 0; i < type->output_count && status == PAWL_OK; i++)
        status =
            pawl__text_check_utf8(type->outputs[i].description, "an output's description", err);
    for (size_t i = 0; i < type->outcome_count && status == PAWL_OK; i++)
        status = pawl__text_check_utf8(type->outcomes[i], "an outcome of an activity", err);
    return status == PAWL_OK ? PAWL_OK
                             : pawl__error_prefix(err, status, "activity '%s'", type->type);
}

static int check_type(const struct pawl_activity_type *type, size_t index, struct pawl_error *err)
{
    if (!is_name(type->type, true))
        return pawl__error_set(err, PAWL_EINVAL,
                               "activity %zu has no type, or one that is not like 'Acme.Charge': "
                               "words of letters, digits and '_', with dots between",
                               index);
    if (!type->execute)
        return pawl__error_set(err, PAWL_EINVAL, "activity '%s' has no function execute",
                               type->type);
    if ((type->input_count > 0 && !type->inputs) || (type->output_count > 0 && !type->outputs) ||
        (type->outcome_count > 0 && !type->outcomes))
        return pawl__error_set(err, PAWL_EINVAL,
                               "activity '%s' announces inputs, outputs or outcomes and has none",
                               type->type);
    if (type->input_count > MEMBERS_MAX || type->output_count > MEMBERS_MAX ||
        type->outcome_count > MEMBERS_MAX)
        return pawl__error_set(err, PAWL_EINVAL,
                               "activity '%s' has more than %u inputs, outputs or outcomes",
                               type->type, MEMBERS_MAX);
    return check_words(type, err);
}

/* What an input or an output is called, and its type. */
static int check_member(struct pawl_arena *arena, const struct pawl_activity_type *type,
                        const char *name, const char *type_name, const struct pawl_type **out,
                        struct pawl_error *err)
{
    int status;

    if (!is_name(name, false))
        return pawl__error_set(err, PAWL_EINVAL,
                               "activity '%s' has an input or output without a name of letters, "
                               "digits and '_'",
                               type->type);
    *out = &pawl__type_object;
    if (!type_name)
        return PAWL_OK;
    status = pawl__type_find(arena, pawl__str(type_name), out);
    if (status == PAWL_ENOTFOUND)
        return pawl__error_set(err, PAWL_EINVAL,
                               "'%s' of activity '%s' is of type '%s', which is none: String, "
                               "Boolean, Int64, Double, Object, ... are",
                               name, type->type, type_name);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static int describe_inputs(struct pawl_arena *arena, const struct pawl_activity_type *type,
                           struct pawl_activity *out, struct pawl_error *err)
{
    struct pawl_input_descriptor *inputs =
        pawl__arena_alloc_array(arena, type->input_count + 1, sizeof *inputs);
    int status = PAWL_OK;

    if (!inputs)
        return pawl__error_code(err, pawl__arena_status(arena));
    for (size_t i = 0; i < type->input_count && status == PAWL_OK; i++) {
        const struct pawl_activity_input *input = &type->inputs[i];

        inputs[i] = (struct pawl_input_descriptor){.name = input->name,
                                                   .description = input->description,
                                                   .default_json = input->default_json};
        status = check_member(arena, type, input->name, input->type, &inputs[i].type, err);
        if (status == PAWL_OK && input->default_json) {
            struct pawl_json ignored;

            status =
                pawl__json_parse(arena, pawl__str(input->default_json), NULL, &ignored, NULL, err);
            if (status == PAWL_EPARSE)
                status = pawl__error_set(err, PAWL_EINVAL,
                                         "the default of '%s' of activity '%s' is not JSON",
                                         input->name, type->type);
        }
    }
    out->inputs = inputs;
    out->input_count = (uint32_t)type->input_count;
    return status;
}

static int describe_outputs(struct pawl_arena *arena, const struct pawl_activity_type *type,
                            struct pawl_activity *out, struct pawl_error *err)
{
    struct pawl_output_descriptor *outputs =
        pawl__arena_alloc_array(arena, type->output_count + 1, sizeof *outputs);
    struct pawl_port_descriptor *ports =
        pawl__arena_alloc_array(arena, type->outcome_count + 1, sizeof *ports);
    int status = PAWL_OK;

    if (!outputs || !ports)
        return pawl__error_code(err, pawl__arena_status(arena));
    for (size_t i = 0; i < type->output_count && status == PAWL_OK; i++) {
        outputs[i] = (struct pawl_output_descriptor){.name = type->outputs[i].name,
                                                     .description = type->outputs[i].description};
        status = check_member(arena, type, type->outputs[i].name, type->outputs[i].type,
                              &outputs[i].type, err);
    }
    for (size_t i = 0; i < type->outcome_count && status == PAWL_OK; i++) {
        if (!type->outcomes[i] || !*type->outcomes[i])
            return pawl__error_set(err, PAWL_EINVAL, "activity '%s' has an outcome without a name",
                                   type->type);
        ports[i] = (struct pawl_port_descriptor){.name = type->outcomes[i], .flow = true};
    }
    out->outputs = outputs;
    out->output_count = (uint32_t)type->output_count;
    out->ports = ports;
    out->port_count = (uint32_t)type->outcome_count;
    return status;
}

/* ---- the engine calls ---------------------------------------------------------------------- */

static const struct program_activity *activity_of(const struct pawl_context *context)
{
    return (const struct program_activity *)context->node->activity;
}

static void begin(struct program_invocation *invocation, struct pawl_context *context)
{
    *invocation = (struct program_invocation){.activity = activity_of(context)};
    context->scratch = invocation;
    context->made_bookmark = false;
}

/* After one of the program's functions returned `status`. */
static int end(struct program_invocation *invocation, struct pawl_context *context, int status)
{
    context->scratch = NULL;
    if (invocation->status != PAWL_OK)
        return invocation->status;
    if (context->status != PAWL_ACTIVITY_RUNNING)
        return PAWL_OK; /* it has completed: what comes after that is too late */
    if (status == PAWL_ENOMEM)
        return status;
    if (status != PAWL_OK)
        return pawl__raise(context, "FaultException", "%s: %s", invocation->activity->type->type,
                           pawl_error_text(status));
    return context->made_bookmark ? PAWL_OK : pawl__complete(context, NULL);
}

static int execute(struct pawl_context *context)
{
    struct program_invocation invocation;
    const struct pawl_activity_type *type = activity_of(context)->type;

    begin(&invocation, context);
    return end(&invocation, context, type->execute(type->ctx, context));
}

static int resumed(struct pawl_context *context, const struct pawl_bookmark *bookmark)
{
    struct program_invocation invocation;
    const struct pawl_activity_type *type = activity_of(context)->type;
    const struct pawl_json *inputs = pawl__run_inputs(context);
    const char *input = "{}";
    int status = PAWL_OK;

    (void)bookmark;
    if (!type->resume)
        return pawl__complete(context, NULL);
    if (pawl__json_is(inputs, PAWL_JSON_OBJECT))
        status = pawl__json_text_write(pawl__context_arena(context), inputs, &input);
    if (status != PAWL_OK)
        return status;
    begin(&invocation, context);
    return end(&invocation, context, type->resume(type->ctx, context, input));
}

/* The result of a call, where the type has no function for it. */
static int keep_result(struct pawl_context *context, const struct pawl_activity_type *type,
                       const char *result)
{
    for (size_t i = 0; i < type->output_count; i++) {
        if (strcmp(type->outputs[i].name, "Result") == 0)
            return pawl_context_output(context, "Result", result);
    }
    return PAWL_OK;
}

static int performed(struct pawl_context *context, const struct pawl_bookmark *bookmark)
{
    struct program_invocation invocation;
    const struct pawl_activity_type *type = activity_of(context)->type;
    const struct pawl_json *error = pawl__run_input(context, PROGRAM_CALL_ERROR);
    const struct pawl_json *value = pawl__run_input(context, PROGRAM_CALL_RESULT);
    const char *result = "null";
    int status = PAWL_OK;

    (void)bookmark;
    if (error)
        return pawl__raise(context, "FaultException", "%.*s", PAWL_STR_ARG(pawl__json_str(error)));
    if (value)
        status = pawl__json_text_write(pawl__context_arena(context), value, &result);
    if (status != PAWL_OK)
        return status;
    begin(&invocation, context);
    status = type->performed ? type->performed(type->ctx, context, result)
                             : keep_result(context, type, result);
    return end(&invocation, context, status);
}

static const struct pawl_resume_callback resumes[] = {
    {PROGRAM_RESUME, resumed},
    {PROGRAM_PERFORMED, performed},
    {NULL, NULL},
};

static int describe(struct pawl_arena *arena, const struct pawl_activity_type *type, size_t index,
                    struct program_activity *out, struct pawl_error *err)
{
    int status = check_type(type, index, err);

    if (status != PAWL_OK)
        return status;
    out->type = type;
    out->activity = (struct pawl_activity){
        .type = type->type,
        .version = 1,
        .category = type->category ? type->category : "Custom",
        .display_name = type->display_name,
        .description = type->description,
        .execute = execute,
        .resumes = resumes,
    };
    status = describe_inputs(arena, type, &out->activity, err);
    return status == PAWL_OK ? describe_outputs(arena, type, &out->activity, err) : status;
}

int pawl__program_add(struct pawl_engine *engine, struct pawl_arena *arena,
                      const struct pawl_activity_type *types, size_t count, struct pawl_error *err)
{
    struct program_activity *made = pawl__arena_alloc_array(arena, count + 1, sizeof *made);
    int status = PAWL_OK;

    if (!made)
        return pawl__error_code(err, pawl__arena_status(arena));
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        status = describe(arena, &types[i], i, &made[i], err);
        if (status != PAWL_OK)
            break;
        if (pawl__engine_activity(engine, pawl__str(types[i].type)))
            return pawl__error_set(err, PAWL_EEXISTS,
                                   "there is an activity '%s' already: choose another type",
                                   types[i].type);
        status = pawl__engine_add_activity(engine, &made[i].activity);
        if (status != PAWL_OK)
            (void)pawl__error_code(err, status);
    }
    return status;
}

/* ---- calls --------------------------------------------------------------------------------- */

struct pawl_call {
    struct pawl_arena *arena;
    const char *key;
    const char *instance_id;
    const char *data;
    struct pawl_json result;
};

const char *pawl_call_key(const struct pawl_call *call)
{
    return call->key;
}

const char *pawl_call_instance_id(const struct pawl_call *call)
{
    return call->instance_id;
}

const char *pawl_call_data(const struct pawl_call *call)
{
    return call->data;
}

int pawl_call_return(struct pawl_call *call, const char *json, struct pawl_error *err)
{
    struct pawl_json result;
    int status;

    if (!call)
        return pawl__error_set(err, PAWL_EINVAL, "no call was given");
    status = pawl__json_text_read(call->arena, json, "the result of a call", &result, err);
    if (status == PAWL_OK)
        call->result = result;
    return status;
}

int pawl__program_call_payload(struct pawl_arena *arena, struct pawl_str call_id,
                               struct pawl_json *out)
{
    struct pawl_builder b = {.arena = arena};

    *out = pawl__json_object();
    pawl__build_text(&b, out, "callId", call_id);
    return b.status;
}

static const struct pawl_activity_type *type_named(const struct pawl_activity_type *types,
                                                   size_t count, struct pawl_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (types[i].perform && pawl__str_is(name, types[i].type))
            return &types[i];
    }
    return NULL;
}

static int read_call(struct pawl_arena *arena, struct pawl_str instance_id,
                     const struct pawl_json *json, struct pawl_call *out)
{
    struct pawl_json none = pawl__json_null();
    const struct pawl_json *data = pawl__json_get_text(json, "data");

    *out = (struct pawl_call){
        .arena = arena,
        .key = pawl__arena_str(arena, pawl__json_str(pawl__json_get_text(json, "callId"))).ptr,
        .instance_id = pawl__arena_str(arena, instance_id).ptr,
        .result = none,
    };
    if (!out->key || !out->instance_id)
        return pawl__arena_status(arena);
    return pawl__json_text_write(arena, data ? data : &none, &out->data);
}

/* `failure` NULL: it came back with call->result. */
static int make_result(const struct pawl_call *call, const char *failure,
                       struct pawl_program_result *out)
{
    struct pawl_builder b = {.arena = call->arena};
    struct pawl_json payload, text;

    out->input = pawl__json_object();
    if (failure) {
        b.status = pawl__json_string_copy(call->arena, pawl__str(failure), &text);
        if (b.status == PAWL_EINVAL) /* not UTF-8 */
            b.status = pawl__json_string_copy(call->arena, pawl__str("the call failed"), &text);
        pawl__build(&b, &out->input, PROGRAM_CALL_ERROR, text);
    } else {
        pawl__build(&b, &out->input, PROGRAM_CALL_RESULT, call->result);
    }
    if (b.status == PAWL_OK)
        b.status = pawl__program_call_payload(call->arena, pawl__str(call->key), &payload);
    if (b.status == PAWL_OK)
        b.status = pawl__stimulus_hash(call->arena->alloc, pawl__str(PROGRAM_CALL_NAME), &payload,
                                       pawl__str(""), out->hash);
    out->key = pawl__str(pawl__arena_printf(call->arena, "call:%s", call->key));
    if (b.status == PAWL_OK && out->key.len == 0)
        b.status = pawl__arena_status(call->arena);
    return b.status;
}

int pawl__program_perform(const struct pawl_activity_type *types, size_t count,
                          struct pawl_arena *arena, struct pawl_str instance_id,
                          const struct pawl_json *call, struct pawl_program_result *out,
                          struct pawl_error *err)
{
    struct pawl_str name = pawl__json_str(pawl__json_get_text(call, "type"));
    const struct pawl_activity_type *type = type_named(types, count, name);
    struct pawl_error why = PAWL_ERROR_INIT;
    struct pawl_call made;
    int answer, status;

    if (!type)
        return pawl__error_set(err, PAWL_EUNSUPPORTED,
                               "this program has no activity '%.*s' that performs calls: all "
                               "nodes of a store need the same activities",
                               PAWL_STR_ARG(name));
    status = read_call(arena, instance_id, call, &made);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    answer = type->perform(type->ctx, &made, &why);
    if (answer != PAWL_OK && !why.msg[0])
        (void)pawl__error_code(&why, answer);
    status = make_result(&made, answer == PAWL_OK ? NULL : why.msg, out);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}
