/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables and the blocks that hold their values.
 *
 * Each context is a scope with blocks found by id; looking outward stops at the first scope that
 * has one. A variable is declared by a container (its definition says so) or came with a schedule
 * (dynamic: loop variables). Those with a storage driver are written into the properties of the
 * context that owns them at every commit and read back when a burst opens.
 */
#include "engine/builder.h"
#include "engine/run/instance.h"
#include "engine/value/number.h"

#include "base/assert.h"
#include "base/time/datetime.h"

/* Of a double. */
#define NUMBER_TEXT_BYTES_MAX 64

/* ---- blocks ------------------------------------------------------------------------------ */

static struct pawl_block *local_block(const struct pawl_context *context, struct pawl_str id)
{
    for (uint32_t i = 0; i < context->block_count; i++) {
        if (pawl__str_equal(context->blocks[i].id, id))
            return &context->blocks[i];
    }
    return NULL;
}

struct pawl_block *pawl__memory_find(struct pawl_context *context, struct pawl_str id,
                                     struct pawl_context **scope)
{
    for (; context; context = context->parent) {
        struct pawl_block *block = local_block(context, id);

        if (block) {
            if (scope)
                *scope = context;
            return block;
        }
    }
    return NULL;
}

static int add_block(struct pawl_context *context, struct pawl_str id, struct pawl_block **out)
{
    void *items = context->blocks;
    int status;

    *out = NULL;
    if (context->block_count >= PAWL_SCOPE_VARIABLES_MAX)
        return pawl__raise(context, "InvalidOperationException",
                           "There are more than %u variables in one scope: keep many values in "
                           "one variable that is an object or an array.",
                           PAWL_SCOPE_VARIABLES_MAX);
    status = pawl__vector_grow(&context->burst->arena, &items, context->block_count,
                               &context->block_cap, sizeof *context->blocks);
    if (status != PAWL_OK)
        return status;
    context->blocks = items;
    context->blocks[context->block_count] = (struct pawl_block){.id = id};
    *out = &context->blocks[context->block_count++];
    return PAWL_OK;
}

/* The property under which a driver keeps its variables; NULL: they are not kept. */
static const char *storage_key(enum pawl_storage storage)
{
    switch (storage) {
    case PAWL_STORAGE_INSTANCE:
        return "Variables";
    case PAWL_STORAGE_WORKFLOW:
        return "PersistentVariablesDictionary";
    case PAWL_STORAGE_NONE:
    case PAWL_STORAGE_MEMORY:
        break;
    }
    return NULL;
}

int pawl__memory_declare(struct pawl_context *context, const struct pawl_variable *variable,
                         struct pawl_value value)
{
    struct pawl_block *block = local_block(context, variable->id);
    int status = PAWL_OK;

    /* One that starts undefined may still be set before it is stored; if not, it is null. */
    if (storage_key(variable->storage) && !pawl__value_is_null(value))
        status = pawl__demand_storable(context, value, "Variable", variable->name);
    if (status == PAWL_OK && !block)
        status = add_block(context, variable->id, &block);
    if (status != PAWL_OK || !block)
        return status;
    block->value = value;
    block->variable = variable;
    block->storage = variable->storage;
    return PAWL_OK;
}

/* Where something new goes: the nearest container, else the outermost scope. */
static struct pawl_context *declaring_scope(struct pawl_context *context)
{
    struct pawl_context *container = pawl__nearest_container(context);

    if (container)
        return container;
    while (context->parent)
        context = context->parent;
    return context;
}

int pawl__memory_set(struct pawl_context *context, struct pawl_str id, struct pawl_value value)
{
    struct pawl_block *block = pawl__memory_find(context, id, NULL);
    int status = PAWL_OK;

    if (block && storage_key(block->storage))
        status = pawl__demand_storable(context, value, "Variable", id);
    if (status == PAWL_OK && !block)
        status = add_block(declaring_scope(context), id, &block);
    if (status == PAWL_OK && block)
        block->value = value;
    return status;
}

struct pawl_context *pawl__nearest_container(struct pawl_context *context)
{
    while (context && !(context->node->activity->flags & PAWL_ACTIVITY_CONTAINER))
        context = context->parent;
    return context;
}

/* ---- variables by name and id ------------------------------------------------------------ */

/* The variables of one scope, dynamic ones first: they overlay declared ones of the same name. */
static const struct pawl_variable *scope_variable(const struct pawl_context *context,
                                                  struct pawl_str key, bool by_id)
{
    for (uint32_t i = context->dynamic_count; i-- > 0;) {
        const struct pawl_variable *variable = &context->dynamic[i];

        if (pawl__str_equal(by_id ? variable->id : variable->name, key))
            return variable;
    }
    if (!(context->node->activity->flags & PAWL_ACTIVITY_CONTAINER))
        return NULL;
    for (uint32_t i = 0; i < context->node->variable_count; i++) {
        const struct pawl_variable *variable = &context->node->variables[i];

        if (pawl__str_equal(by_id ? variable->id : variable->name, key))
            return variable;
    }
    return NULL;
}

static const struct pawl_variable *find_variable(struct pawl_context *context, struct pawl_str key,
                                                 bool by_id, struct pawl_context **scope)
{
    for (; context; context = context->parent) {
        const struct pawl_variable *variable = scope_variable(context, key, by_id);

        if (variable) {
            if (scope)
                *scope = context;
            return variable;
        }
    }
    return NULL;
}

const struct pawl_variable *pawl__variable_named(struct pawl_context *context, struct pawl_str name,
                                                 struct pawl_context **scope)
{
    return find_variable(context, name, false, scope);
}

const struct pawl_variable *pawl__variable_with_id(struct pawl_context *context, struct pawl_str id,
                                                   struct pawl_context **scope)
{
    return find_variable(context, id, true, scope);
}

/* "CurrentValue" -> "currentValueVariable" */
static struct pawl_str camel_variable_id(struct pawl_arena *arena, struct pawl_str name)
{
    static const char suffix[] = "Variable";
    char *id = pawl__arena_alloc_aligned(arena, name.len + sizeof suffix, 1);

    if (!id)
        return pawl__str_make(NULL, 0);
    if (name.len > 0)
        memcpy(id, name.ptr, name.len);
    memcpy(id + name.len, suffix, sizeof suffix);
    if (id[0] >= 'A' && id[0] <= 'Z' && name.len > 0)
        id[0] = (char)(id[0] - 'A' + 'a');
    return pawl__str_make(id, name.len + sizeof suffix - 1);
}

int pawl__variable_make(struct pawl_arena *arena, struct pawl_str name, struct pawl_value value,
                        struct pawl_variable *out)
{
    struct pawl_str id = camel_variable_id(arena, name);

    if (!id.ptr)
        return pawl__arena_status(arena);
    *out = (struct pawl_variable){.id = id,
                                  .name = name,
                                  .type = &pawl__type_object,
                                  .initial = value,
                                  .storage = PAWL_STORAGE_INSTANCE};
    return PAWL_OK;
}

/*
 * The nearest block that a script made under this name, or that belongs to a variable of this name
 * which is not in scope itself: what a loop beside this activity left in their common container.
 */
static struct pawl_block *block_named(struct pawl_context *context, struct pawl_str name)
{
    for (; context; context = context->parent) {
        for (uint32_t i = 0; i < context->block_count; i++) {
            struct pawl_block *block = &context->blocks[i];

            if (pawl__str_equal(block->variable ? block->variable->name : block->id, name))
                return block;
        }
    }
    return NULL;
}

bool pawl__variable_get(struct pawl_context *context, struct pawl_str name, struct pawl_value *out)
{
    struct pawl_context *scope = context;
    const struct pawl_variable *variable = pawl__variable_named(context, name, &scope);
    struct pawl_block *block;

    if (variable) {
        block = pawl__memory_find(scope, variable->id, NULL);
        *out = block ? block->value : variable->initial;
        return true;
    }
    block = block_named(context, name);
    if (block)
        *out = block->value;
    return block != NULL;
}

int pawl__variable_set(struct pawl_context *context, struct pawl_str name, struct pawl_value value)
{
    struct pawl_context *scope = context;
    const struct pawl_variable *variable = pawl__variable_named(context, name, &scope);
    struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_exception raised;
    struct pawl_str copy;
    int status;

    if (!variable) {
        copy = pawl__arena_str(&context->burst->arena, name);
        return copy.ptr ? pawl__memory_set(context, copy, value)
                        : pawl__arena_status(&context->burst->arena);
    }
    status = pawl__convert(&how, value, variable->type, &value, &raised);
    if (status == ENGINE_RAISED)
        return pawl__raise_exception(context, &raised);
    if (status == PAWL_OK)
        status = pawl__memory_set(scope, variable->id, value);
    return status;
}

struct visited {
    struct pawl_str *names;
    uint32_t count;
    uint32_t cap;
};

static bool was_visited(const struct visited *visited, struct pawl_str name)
{
    for (uint32_t i = 0; i < visited->count; i++) {
        if (pawl__str_equal(visited->names[i], name))
            return true;
    }
    return false;
}

static int
visit_one(struct pawl_context *scope, const struct pawl_variable *variable, struct visited *visited,
          int (*visit)(void *ctx, const struct pawl_variable *variable, struct pawl_value value),
          void *ctx)
{
    struct pawl_block *block;
    void *items = visited->names;
    int status;

    if (was_visited(visited, variable->name))
        return PAWL_OK;
    status = pawl__vector_grow(&scope->burst->arena, &items, visited->count, &visited->cap,
                               sizeof *visited->names);
    if (status != PAWL_OK)
        return status;
    visited->names = items;
    visited->names[visited->count++] = variable->name;
    block = pawl__memory_find(scope, variable->id, NULL);
    return visit(ctx, variable, block ? block->value : variable->initial);
}

int pawl__variables_visit(struct pawl_context *context,
                          int (*visit)(void *ctx, const struct pawl_variable *variable,
                                       struct pawl_value value),
                          void *ctx)
{
    struct visited visited = {0};
    int status = PAWL_OK;

    for (; context && status == PAWL_OK; context = context->parent) {
        for (uint32_t i = context->dynamic_count; i-- > 0 && status == PAWL_OK;)
            status = visit_one(context, &context->dynamic[i], &visited, visit, ctx);
        if (!(context->node->activity->flags & PAWL_ACTIVITY_CONTAINER))
            continue;
        for (uint32_t i = 0; i < context->node->variable_count && status == PAWL_OK; i++)
            status = visit_one(context, &context->node->variables[i], &visited, visit, ctx);
    }
    return status;
}

/* ---- declaring --------------------------------------------------------------------------- */

int pawl__variables_declare(struct pawl_context *context)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < context->node->variable_count && status == PAWL_OK; i++) {
        const struct pawl_variable *variable = &context->node->variables[i];

        status = pawl__memory_declare(context, variable, variable->initial);
    }
    return status;
}

static int keep_dynamic(struct pawl_context *context, const struct pawl_variable *variable)
{
    struct pawl_variable *larger;

    for (uint32_t i = 0; i < context->dynamic_count; i++) {
        if (pawl__str_equal(context->dynamic[i].name, variable->name)) {
            context->dynamic[i] = *variable;
            return PAWL_OK;
        }
    }
    larger = pawl__arena_alloc_array(&context->burst->arena, context->dynamic_count + 1u,
                                     sizeof *larger);
    if (!larger)
        return pawl__arena_status(&context->burst->arena);
    if (context->dynamic_count > 0)
        memcpy(larger, context->dynamic, context->dynamic_count * sizeof *larger);
    larger[context->dynamic_count++] = *variable;
    context->dynamic = larger;
    return PAWL_OK;
}

/*
 * Sets the block of a dynamic variable: one that is there already, in an outer scope too, is
 * overwritten, so that an inner loop leaves its last value to the outer one. As recorded.
 */
static int set_dynamic(struct pawl_context *container, const struct pawl_variable *variable)
{
    struct pawl_block *block = pawl__memory_find(container, variable->id, NULL);

    if (!block)
        return pawl__memory_declare(container, variable, variable->initial);
    block->value = variable->initial;
    return PAWL_OK;
}

int pawl__dynamic_declare(struct pawl_context *context, const struct pawl_variable *variables,
                          uint32_t count)
{
    struct pawl_context *container = pawl__nearest_container(context);
    int status = PAWL_OK;

    if (!container)
        return PAWL_OK;
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        status = keep_dynamic(context, &variables[i]);
        if (status == PAWL_OK)
            status = set_dynamic(container, &variables[i]);
    }
    return status;
}

/* ---- storage ----------------------------------------------------------------------------- */

/*
 * The property that holds the variables of a driver, without its marker so that new entries come
 * before it; made when missing.
 */
static int open_dictionary(struct pawl_context *context, const char *key,
                           struct pawl_json **dictionary)
{
    int status = PAWL_OK;

    if (!pawl__json_is(pawl__property(context, key), PAWL_JSON_OBJECT))
        status = pawl__property_set(context, key, pawl__json_object());
    *dictionary = pawl__property(context, key);
    if (*dictionary)
        (void)pawl__json_remove(*dictionary, pawl__str("_type"));
    return status;
}

static int close_dictionary(struct pawl_context *context, const char *key,
                            struct pawl_json *dictionary)
{
    const char *marker = strcmp(key, "Variables") == 0 ? "VariablesDictionary" : "ObjectMap";

    if (dictionary->len == 0) {
        pawl__property_remove(context, key);
        return PAWL_OK;
    }
    return pawl__json_set_text(&context->burst->arena, dictionary, "_type",
                               pawl__json_string(pawl__str(marker)));
}

/* The Memory driver: not stored, but outlives the burst if the caller keeps the request. */
static struct pawl_str kept_key(struct pawl_context *context, const struct pawl_variable *variable)
{
    const char *key = pawl__arena_printf(&context->burst->arena, "%.*s/%.*s",
                                         PAWL_STR_ARG(context->id), PAWL_STR_ARG(variable->id));

    return key ? pawl__str(key) : pawl__str_make(NULL, 0);
}

static int keep_variable(struct pawl_context *context, const struct pawl_variable *variable,
                         struct pawl_value value)
{
    struct pawl_builder b = {.arena = &context->burst->arena};
    struct pawl_str key = kept_key(context, variable);
    struct pawl_json typed = pawl__typed_json(&b, value);

    if (!key.ptr)
        return pawl__arena_status(b.arena);
    if (b.status == PAWL_OK)
        b.status = pawl__json_set(b.arena, &context->burst->kept, key, typed);
    return b.status;
}

/* A null counts as not kept. */
static int read_kept(struct pawl_context *context, const struct pawl_variable *variable,
                     struct pawl_value *value)
{
    struct pawl_str key = kept_key(context, variable);
    const struct pawl_json *typed;

    if (!key.ptr)
        return pawl__arena_status(&context->burst->arena);
    typed = pawl__json_get(&context->burst->kept, key);
    return typed && typed->type != PAWL_JSON_NULL
               ? pawl__typed_read(&context->burst->arena, typed, value)
               : PAWL_OK;
}

/* A double as .NET writes it, which counts when it is read as another type: 1E+20 is no Int32. */
static int write_plain(struct pawl_arena *arena, const struct pawl_json *json,
                       struct pawl_json *out)
{
    struct pawl_buf text;
    double number;
    int status;

    if (json->type != PAWL_JSON_DOUBLE || !pawl__json_to_double(json, &number))
        return pawl__value_write_plain(arena, json, out);
    pawl__buf_init(&text, arena->alloc, NUMBER_TEXT_BYTES_MAX);
    pawl__number_write_double(&text, number, false);
    status =
        text.status == PAWL_OK ? pawl__json_number(arena, pawl__buf_peek(&text), out) : text.status;
    pawl__buf_release(&text);
    return status;
}

static int save_variable(struct pawl_context *context, const struct pawl_variable *variable)
{
    struct pawl_block *block = pawl__memory_find(context, variable->id, NULL);
    const char *key = block ? storage_key(block->storage) : NULL;
    struct pawl_json *dictionary;
    struct pawl_json stored;
    int status;

    if (block && block->storage == PAWL_STORAGE_MEMORY)
        return keep_variable(context, variable, block->value);
    if (!key)
        return PAWL_OK;
    status = open_dictionary(context, key, &dictionary);
    if (status != PAWL_OK)
        return status;
    if (pawl__value_is_null(block->value)) {
        (void)pawl__json_remove(dictionary, variable->id);
    } else {
        if (block->storage == PAWL_STORAGE_WORKFLOW)
            status = pawl__value_write(&context->burst->arena, block->value, &stored);
        else
            status = write_plain(&context->burst->arena, &block->value.json, &stored);
        if (status == PAWL_OK)
            status = pawl__json_set(&context->burst->arena, dictionary, variable->id, stored);
    }
    if (status == PAWL_OK)
        status = close_dictionary(context, key, dictionary);
    return status;
}

static int visit_local(struct pawl_context *context,
                       int (*visit)(struct pawl_context *context,
                                    const struct pawl_variable *variable))
{
    int status = PAWL_OK;

    if (context->node->activity->flags & PAWL_ACTIVITY_CONTAINER) {
        for (uint32_t i = 0; i < context->node->variable_count && status == PAWL_OK; i++)
            status = visit(context, &context->node->variables[i]);
    }
    for (uint32_t i = 0; i < context->dynamic_count && status == PAWL_OK; i++)
        status = visit(context, &context->dynamic[i]);
    return status;
}

int pawl__variables_save(struct pawl_burst *burst)
{
    struct pawl_context *context;
    int status = PAWL_OK;

    PAWL_FOR_EACH_CONTEXT(context, burst)
    {
        /* Of ended ones only the root keeps its variables. */
        if (status == PAWL_OK && (!context->parent || !pawl__context_ended(context)))
            status = visit_local(context, save_variable);
    }
    return status;
}

/*
 * What is stored plain comes back as a JSON node, which only becomes what its JSON can be read as:
 * `false` is no TimeSpan, so that the variable has `false` again. A variable of any type has a
 * plain scalar.
 */
static int read_plain(struct pawl_context *context, const struct pawl_variable *variable,
                      const struct pawl_json *stored, struct pawl_value *out)
{
    struct pawl_json json;
    int status = pawl__value_read_plain(&context->burst->arena, stored, &json);

    if (status != PAWL_OK)
        return status;
    *out = json.type < PAWL_JSON_ARRAY && variable->type->kind == PAWL_TYPE_OBJECT
               ? pawl__value_from_json(json)
               : pawl__value_node(json);
    return PAWL_OK;
}

/* A stored value converted to its variable's type; unchanged if it does not convert. */
static int read_stored(struct pawl_context *context, const struct pawl_variable *variable,
                       const struct pawl_json *stored, bool polymorphic, struct pawl_value *out)
{
    struct pawl_conversion how = pawl__context_conversion(context);
    struct pawl_exception raised;
    struct pawl_datetime date;
    struct pawl_value value;
    int status = polymorphic ? pawl__run_value(context, stored, &value)
                             : read_plain(context, variable, stored, &value);

    if (status != PAWL_OK)
        return status;
    /* Text converts to a date in local time; what was stored is the date as it is. */
    if (variable->type->kind == PAWL_TYPE_DATETIME &&
        pawl__datetime_parse(pawl__json_str(&value.json), &date, NULL) == PAWL_OK) {
        *out = (struct pawl_value){.json = value.json, .type = variable->type};
        return PAWL_OK;
    }
    *out = value;
    status = pawl__convert(&how, value, variable->type, &value, &raised);
    if (status == PAWL_OK)
        *out = value;
    return status == ENGINE_RAISED ? PAWL_OK : status;
}

static int load_variable(struct pawl_context *context, const struct pawl_variable *variable)
{
    const char *key = storage_key(variable->storage);
    const struct pawl_json *stored =
        key ? pawl__json_get(pawl__property(context, key), variable->id) : NULL;
    struct pawl_context *scope = pawl__nearest_container(context);
    struct pawl_value value = variable->initial;
    int status = PAWL_OK;

    if (variable->storage == PAWL_STORAGE_MEMORY)
        status = read_kept(context, variable, &value);
    else if (stored && stored->type != PAWL_JSON_NULL)
        status = read_stored(context, variable, stored, variable->storage == PAWL_STORAGE_WORKFLOW,
                             &value);
    /* What the plain form converts to null counts as not stored. */
    if (status == PAWL_OK && variable->storage == PAWL_STORAGE_INSTANCE &&
        pawl__value_is_null(value))
        value = variable->initial;
    if (status == PAWL_OK)
        status = pawl__memory_declare(scope ? scope : context, variable, value);
    return status;
}

int pawl__variables_load(struct pawl_context *context)
{
    return visit_local(context, load_variable);
}

void pawl__variables_forget(struct pawl_context *context)
{
    pawl__property_remove(context, "Variables");
    pawl__property_remove(context, "PersistentVariablesDictionary");
    context->block_count = 0;
}
