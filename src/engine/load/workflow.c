/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions: their own keys, and those that are used as activities within others.
 *
 * A workflow becomes two nodes: Elsa.Workflow and, below it, the definition's root. One that is
 * used as an activity has a third above these, of a type that is made for it here. It is read once
 * per graph and loaded for each occurrence.
 */
#include "engine/load/loader.h"

/* ---- arguments --------------------------------------------------------------------------- */

static int read_argument(struct pawl_loader *loader, const struct pawl_json *json,
                         const char *pointer, struct pawl_argument *out)
{
    struct pawl_str alias, driver;
    int status;

    *out = (struct pawl_argument){.json = json, .type = &pawl__type_object};
    if (!pawl__json_is(json, PAWL_JSON_OBJECT))
        return pawl__loader_fail(loader, pointer, "expected an object with name and type, found %s",
                                 pawl__loader_found(json));
    status = pawl__loader_str(loader, json, "name", pointer, &out->name);
    if (status == PAWL_OK)
        status = pawl__loader_str(loader, json, "type", pointer, &alias);
    if (status == PAWL_OK)
        status = pawl__loader_str(loader, json, "storageDriverType", pointer, &driver);
    if (status == PAWL_OK && alias.len > 0)
        status = pawl__loader_type(loader, alias, &out->type);
    if (status != PAWL_OK)
        return status;
    if (out->name.len == 0)
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, NULL, pointer,
                             "it has no name: it is left out");
    if (!out->type) {
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, NULL, pointer,
                             "unknown type '%.*s': Object counts", PAWL_STR_ARG(alias));
        out->type = &pawl__type_object;
    }
    out->storage = pawl__loader_storage(driver, true);
    return PAWL_OK;
}

static int read_arguments(struct pawl_loader *loader, const struct pawl_json *definition,
                          const char *key, struct pawl_argument **out, uint32_t *count)
{
    const struct pawl_json *array = pawl__loader_get(definition, key);
    const char *place = pawl__loader_pointer(loader, "", key);
    uint32_t given = pawl__json_len(array);
    struct pawl_argument *arguments;

    arguments = pawl__arena_alloc_array(loader->arena, given, sizeof *arguments);
    if (!place || !arguments)
        return loader_memory(loader);
    if (array && !pawl__json_is(array, PAWL_JSON_ARRAY))
        return pawl__loader_fail(loader, place, "expected an array, found %s",
                                 pawl__loader_found(array));
    if (given > PAWL_SCOPE_VARIABLES_MAX)
        return pawl__loader_fail(loader, place,
                                 "%u %s, at most %u are allowed; pass many values in one that is "
                                 "an object or an array",
                                 given, key, PAWL_SCOPE_VARIABLES_MAX);
    *out = arguments;
    *count = 0;
    for (uint32_t i = 0; i < given; i++) {
        const char *pointer = pawl__loader_element(loader, place, i);
        int status;

        if (!pointer)
            return loader_memory(loader);
        status = read_argument(loader, pawl__json_at(array, i), pointer, &arguments[*count]);
        if (status != PAWL_OK)
            return status;
        if (arguments[*count].name.len > 0)
            (*count)++;
    }
    return PAWL_OK;
}

static int read_outcomes(struct pawl_loader *loader, const struct pawl_json *definition,
                         struct pawl_workflow *workflow)
{
    const struct pawl_json *array = pawl__loader_get(definition, "outcomes");
    uint32_t given = pawl__json_is(array, PAWL_JSON_ARRAY) ? pawl__json_len(array) : 0;

    workflow->outcomes = pawl__arena_alloc_array(loader->arena, given, sizeof *workflow->outcomes);
    if (!workflow->outcomes)
        return loader_memory(loader);
    for (uint32_t i = 0; i < given; i++) {
        struct pawl_str name = pawl__json_str(pawl__json_at(array, i));

        if (name.len > 0)
            workflow->outcomes[workflow->outcome_count++] = name;
    }
    return PAWL_OK;
}

/* ---- options ----------------------------------------------------------------------------- */

/* "UnregisteredClrType:A.B.SingletonStrategy, C" -> "SingletonStrategy". */
static struct pawl_str class_name(struct pawl_str type)
{
    size_t comma = pawl__str_find(type, ',', 0);
    struct pawl_str name = pawl__str_slice(type, 0, comma);

    for (size_t i = name.len; i > 0; i--) {
        if (name.ptr[i - 1] == '.' || name.ptr[i - 1] == ':')
            return pawl__str_trim(pawl__str_slice(name, i, name.len));
    }
    return pawl__str_trim(name);
}

static void read_incident_strategy(struct pawl_loader *loader, const struct pawl_json *options,
                                   struct pawl_workflow *workflow)
{
    struct pawl_str given = pawl__json_str(pawl__loader_get(options, "incidentStrategyType"));
    struct pawl_str name = class_name(given);

    if (pawl__str_equal_nocase(name, pawl__str("FaultStrategy")))
        workflow->incident_strategy = PAWL_INCIDENT_FAULT;
    else if (pawl__str_equal_nocase(name, pawl__str("ContinueWithIncidentsStrategy")))
        workflow->incident_strategy = PAWL_INCIDENT_CONTINUE;
    else if (given.len > 0)
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, NULL, "/options/incidentStrategyType",
                             "unknown strategy '%.*s': the default counts; write 'FaultStrategy' "
                             "or 'ContinueWithIncidentsStrategy'",
                             PAWL_STR_ARG(given));
}

static int read_activation_strategy(struct pawl_loader *loader, const struct pawl_json *options,
                                    struct pawl_workflow *workflow)
{
    static const char *const known[] = {"AllowAlwaysStrategy", "SingletonStrategy",
                                        "CorrelationStrategy", "CorrelatedSingletonStrategy"};
    struct pawl_str given = pawl__json_str(pawl__loader_get(options, "activationStrategyType"));
    struct pawl_str name = class_name(given);

    workflow->activation_strategy = pawl__str("");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (pawl__str_equal_nocase(name, pawl__str(known[i])))
            workflow->activation_strategy = pawl__str(known[i]);
    }
    if (given.len > 0 && workflow->activation_strategy.len == 0)
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, NULL, "/options/activationStrategyType",
                             "unknown strategy '%.*s': every start is allowed",
                             PAWL_STR_ARG(given));
    return PAWL_OK;
}

static int read_options(struct pawl_loader *loader, const struct pawl_json *definition,
                        struct pawl_workflow *workflow)
{
    const struct pawl_json *options = pawl__loader_get(definition, "options");

    if (options && !pawl__json_is(options, PAWL_JSON_OBJECT))
        return pawl__loader_fail(loader, "/options", "expected an object, found %s",
                                 pawl__loader_found(options));
    workflow->commit_strategy = pawl__json_str(pawl__loader_get(options, "commitStrategyName"));
    read_incident_strategy(loader, options, workflow);
    return read_activation_strategy(loader, options, workflow);
}

/* ---- a definition ------------------------------------------------------------------------ */

static int read_head(struct pawl_loader *loader, const struct pawl_json *definition,
                     struct pawl_workflow *workflow)
{
    struct pawl_str name;
    int status = pawl__loader_str(loader, definition, "name", "", &name);

    if (status == PAWL_OK) {
        workflow->name = pawl__arena_str(loader->arena, pawl__str_trim(name));
        status = workflow->name.ptr ? PAWL_OK : loader_memory(loader);
    }
    if (status == PAWL_OK)
        status = pawl__loader_str(loader, definition, "id", "", &workflow->version_id);
    if (status == PAWL_OK)
        status = pawl__loader_str(loader, definition, "definitionId", "", &workflow->definition_id);
    if (status == PAWL_OK)
        status = pawl__loader_str(loader, definition, "toolVersion", "", &workflow->tool_version);
    workflow->version = 1;
    (void)pawl__json_to_int(pawl__loader_get(definition, "version"), &workflow->version);
    workflow->is_system = pawl__loader_true(pawl__loader_get(definition, "isSystem"));
    workflow->json = definition;
    return status;
}

/* The frame's workflow is the one being read, so that messages can name it. */
static int read_definition(struct pawl_loader *loader, const struct pawl_json *definition,
                           struct pawl_workflow *workflow)
{
    int status = read_head(loader, definition, workflow);

    if (status == PAWL_OK)
        status = pawl__loader_variables(loader, NULL, definition, "", &workflow->variables,
                                        &workflow->variable_count);
    if (status == PAWL_OK)
        status =
            read_arguments(loader, definition, "inputs", &workflow->inputs, &workflow->input_count);
    if (status == PAWL_OK)
        status = read_arguments(loader, definition, "outputs", &workflow->outputs,
                                &workflow->output_count);
    if (status == PAWL_OK)
        status = read_outcomes(loader, definition, workflow);
    if (status == PAWL_OK)
        status = read_options(loader, definition, workflow);
    return status;
}

/* Copies a definition and reads its keys, all but the root. */
static int take_definition(struct pawl_loader *loader, const struct pawl_json *given,
                           struct pawl_workflow *workflow)
{
    struct pawl_json *copy = pawl__arena_alloc(loader->arena, sizeof *copy);
    struct pawl_json *root;
    int status;

    if (!copy)
        return loader_memory(loader);
    if (!pawl__json_is(given, PAWL_JSON_OBJECT))
        return pawl__loader_fail(loader, "", "expected a workflow definition, an object, found %s",
                                 pawl__loader_found(given));
    status = pawl__json_copy(loader->arena, given, copy);
    if (status == PAWL_ELIMIT && loader->arena->status == PAWL_OK)
        return pawl__error_set(loader->err, status,
                               "the definition has more than %u levels of JSON; move inner "
                               "activities into a workflow of their own",
                               (unsigned)PAWL_JSON_DEPTH_MAX);
    if (status != PAWL_OK)
        return status;
    root = pawl__json_get_nocase(copy, pawl__str("root"));
    if (root)
        pawl__loader_strip(root);
    return read_definition(loader, copy, workflow);
}

/* {"type":"Elsa.Sequence"}: what a definition without a root does. */
static int empty_root(struct pawl_loader *loader, const struct pawl_json **out)
{
    struct pawl_json *root = pawl__arena_alloc(loader->arena, sizeof *root);

    if (!root)
        return loader_memory(loader);
    *root = pawl__json_object();
    *out = root;
    return pawl__json_set_text(loader->arena, root, "type",
                               pawl__json_string(pawl__str(PAWL_ACTIVITY_SEQUENCE)));
}

static int load_root(struct pawl_loader *loader, struct pawl_node *node)
{
    const struct pawl_json *root = pawl__loader_get(node->workflow->json, "root");
    struct pawl_node *child;
    int status = PAWL_OK;

    if (!root) {
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, NULL, "",
                             "the definition has no root: it does nothing");
        status = empty_root(loader, &root);
    }
    if (status == PAWL_OK)
        status = pawl__loader_child(loader, node, "Root", root, "/root", &child);
    return status;
}

/* The Elsa.Workflow node and all below it, with ids. */
static int load_workflow(struct pawl_loader *loader, struct pawl_workflow *workflow,
                         struct pawl_node *parent, struct pawl_node **out)
{
    const struct pawl_activity *type =
        pawl__engine_activity(loader->engine, pawl__str(PAWL_ACTIVITY_WORKFLOW));
    uint32_t before = loader->node_count;
    const struct loader_shape *shape;
    struct pawl_node *node;
    int status;

    if (!type)
        return pawl__error_set(loader->err, PAWL_EINVAL, "the engine has no activity type '%s'",
                               PAWL_ACTIVITY_WORKFLOW);
    status = pawl__loader_node(loader, parent, pawl__str("Root"), type, workflow->json, "", &node);
    if (status == PAWL_OK)
        status = pawl__loader_shape(loader, type, &shape);
    if (status == PAWL_OK)
        status = pawl__loader_inputs(loader, node, shape);
    if (status == PAWL_OK)
        status = pawl__loader_outputs(loader, node, shape);
    if (status != PAWL_OK)
        return status;
    node->workflow = workflow;
    node->variables = workflow->variables;
    node->variable_count = workflow->variable_count;
    status = load_root(loader, node);
    if (status == PAWL_OK && parent)
        status = pawl__loader_attach(loader, node);
    if (status == PAWL_OK)
        status = pawl__loader_finish(loader, node, loader->node_count - before);
    if (status == PAWL_OK)
        *out = node;
    return status;
}

/* ---- workflows used as activities -------------------------------------------------------- */

/* An argument must not take the key of a property that every such activity has. */
static bool is_reserved(struct pawl_str name)
{
    static const char *const names[] = {"Id",
                                        "NodeId",
                                        "Name",
                                        "Type",
                                        "Version",
                                        "CustomProperties",
                                        "SyntheticProperties",
                                        "Metadata",
                                        "Source",
                                        "Line",
                                        "Root",
                                        "Variables",
                                        "WorkflowDefinitionId",
                                        "WorkflowDefinitionVersionId",
                                        "LatestAvailablePublishedVersion",
                                        "LatestAvailablePublishedVersionId"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (pawl__str_is(name, names[i]))
            return true;
    }
    return false;
}

static const char *argument_key(struct pawl_loader *loader, struct pawl_str name)
{
    if (!is_reserved(name))
        return name.ptr;
    return pawl__arena_printf(loader->arena, "_%s", name.ptr);
}

/* The text under a key of an argument or definition, NULL when there is none. */
static const char *text_or_null(const struct pawl_json *json, const char *key)
{
    struct pawl_str text = pawl__json_str(pawl__loader_get(json, key));

    return text.len > 0 ? text.ptr : NULL;
}

static int describe_arguments(struct pawl_loader *loader, const struct pawl_workflow *workflow,
                              struct pawl_activity *activity)
{
    struct pawl_input_descriptor *inputs =
        pawl__arena_alloc_array(loader->arena, workflow->input_count, sizeof *inputs);
    struct pawl_output_descriptor *outputs =
        pawl__arena_alloc_array(loader->arena, workflow->output_count, sizeof *outputs);

    if (!inputs || !outputs)
        return loader_memory(loader);
    for (uint32_t i = 0; i < workflow->input_count; i++) {
        const struct pawl_argument *from = &workflow->inputs[i];

        inputs[i] = (struct pawl_input_descriptor){
            .name = argument_key(loader, from->name),
            .type = from->type,
            .display_name = text_or_null(from->json, "displayName"),
            .description = text_or_null(from->json, "description"),
            .category = text_or_null(from->json, "category"),
            .ui_hint = text_or_null(from->json, "uiHint"),
        };
    }
    for (uint32_t i = 0; i < workflow->output_count; i++) {
        const struct pawl_argument *from = &workflow->outputs[i];

        outputs[i] = (struct pawl_output_descriptor){
            .name = argument_key(loader, from->name),
            .type = from->type,
            .display_name = text_or_null(from->json, "displayName"),
            .description = text_or_null(from->json, "description"),
        };
    }
    activity->inputs = inputs;
    activity->input_count = workflow->input_count;
    activity->outputs = outputs;
    activity->output_count = workflow->output_count;
    return loader->arena->status;
}

static int describe_ports(struct pawl_loader *loader, const struct pawl_workflow *workflow,
                          struct pawl_activity *activity)
{
    uint32_t count = workflow->outcome_count + 1;
    struct pawl_port_descriptor *ports =
        pawl__arena_alloc_array(loader->arena, count, sizeof *ports);

    if (!ports)
        return loader_memory(loader);
    ports[0] = (struct pawl_port_descriptor){.name = "Root", .hidden = true};
    for (uint32_t i = 1; i < count; i++)
        ports[i] =
            (struct pawl_port_descriptor){.name = workflow->outcomes[i - 1].ptr, .flow = true};
    activity->ports = ports;
    activity->port_count = count;
    return PAWL_OK;
}

/* The type of activity that a workflow is: its face from the definition, its work from the model.
 */
static int describe(struct pawl_loader *loader, struct loader_source *source)
{
    const struct pawl_workflow *workflow = source->workflow;
    const struct pawl_json *options = pawl__loader_get(workflow->json, "options");
    const struct pawl_activity *model =
        pawl__engine_activity(loader->engine, pawl__str(PAWL_ACTIVITY_EMBEDDED));
    struct pawl_activity *activity = pawl__arena_alloc(loader->arena, sizeof *activity);
    const char *category = text_or_null(options, "activityCategory");
    int status;

    if (!activity)
        return loader_memory(loader);
    if (!model)
        return pawl__error_set(loader->err, PAWL_EINVAL, "the engine has no activity type '%s'",
                               PAWL_ACTIVITY_EMBEDDED);
    *activity = *model;
    activity->type = pawl__workflow_type_name(loader->arena, workflow->name).ptr;
    if (!activity->type)
        return loader_memory(loader);
    activity->version = (uint32_t)workflow->version;
    activity->flags &= ~(uint32_t)PAWL_ACTIVITY_NOT_BROWSABLE;
    if (!pawl__loader_true(pawl__loader_get(workflow->json, "isPublished")))
        activity->flags |= PAWL_ACTIVITY_NOT_BROWSABLE;
    activity->category = category ? category : "Workflows";
    activity->display_name = workflow->name.ptr;
    activity->description = text_or_null(workflow->json, "description");
    status = describe_arguments(loader, workflow, activity);
    if (status == PAWL_OK)
        status = describe_ports(loader, workflow, activity);
    source->activity = activity;
    return status;
}

static void declare(struct pawl_variable *to, const struct pawl_argument *from, bool is_input)
{
    *to = (struct pawl_variable){
        .id = from->name,
        .name = from->name,
        .type = from->type,
        .initial = pawl__value_null(),
        .storage = is_input ? from->storage : PAWL_STORAGE_NONE,
    };
}

static int declare_arguments(struct pawl_loader *loader, struct loader_source *source)
{
    const struct pawl_workflow *workflow = source->workflow;
    uint32_t count = workflow->input_count + workflow->output_count;

    source->variables = pawl__arena_alloc_array(loader->arena, count, sizeof *source->variables);
    if (!source->variables)
        return loader_memory(loader);
    source->variable_count = count;
    for (uint32_t i = 0; i < workflow->input_count; i++)
        declare(&source->variables[i], &workflow->inputs[i], true);
    for (uint32_t i = 0; i < workflow->output_count; i++)
        declare(&source->variables[workflow->input_count + i], &workflow->outputs[i], false);
    return PAWL_OK;
}

static void enter(struct pawl_loader *loader, struct loader_frame *frame,
                  const struct pawl_workflow *workflow, const char *pointer)
{
    const struct loader_frame *outer = loader->frame;

    *frame = (struct loader_frame){
        .outer = outer,
        .workflow = workflow,
        .at = outer && outer->outer ? outer->at : pointer,
        .level = outer ? outer->level + 1 : 0,
    };
    loader->frame = frame;
}

static int read_source(struct pawl_loader *loader, const struct pawl_json *given,
                       const char *pointer, struct loader_source **out)
{
    struct loader_source *source = pawl__arena_alloc_zeroed(loader->arena, sizeof *source);
    struct loader_frame frame;
    int status;

    if (!source)
        return loader_memory(loader);
    source->given = given;
    source->workflow = pawl__arena_alloc_zeroed(loader->arena, sizeof *source->workflow);
    if (!source->workflow)
        return loader_memory(loader);
    source->workflow->name = pawl__str("");
    enter(loader, &frame, source->workflow, pointer);
    status = take_definition(loader, given, source->workflow);
    if (status == PAWL_OK)
        status = describe(loader, source);
    if (status == PAWL_OK)
        status = declare_arguments(loader, source);
    loader->frame = frame.outer;
    if (status == PAWL_OK)
        status = pawl__map_put(&loader->sources, pawl__loader_address(&source->given), source);
    if (status == PAWL_OK)
        *out = source;
    return status;
}

/* By version id where both have one, else by definition id and version. */
static bool is_same(const struct pawl_workflow *workflow, const struct pawl_json *definition)
{
    struct pawl_str version_id = pawl__json_str(pawl__loader_get(definition, "id"));
    struct pawl_str id = pawl__json_str(pawl__loader_get(definition, "definitionId"));
    int64_t version = 1;

    if (version_id.len > 0 && workflow->version_id.len > 0)
        return pawl__str_equal(version_id, workflow->version_id);
    (void)pawl__json_to_int(pawl__loader_get(definition, "version"), &version);
    return id.len > 0 && pawl__str_equal(id, workflow->definition_id) &&
           version == workflow->version;
}

static int check_nesting(struct pawl_loader *loader, const struct pawl_json *given,
                         const char *pointer)
{
    struct pawl_str name = pawl__json_str(pawl__loader_get(given, "name"));

    PAWL_ASSERT(loader->frame);
    for (const struct loader_frame *frame = loader->frame; frame; frame = frame->outer) {
        if (is_same(frame->workflow, given))
            return pawl__loader_fail(loader, pointer,
                                     "the workflow '%.*s' would contain itself without end; start "
                                     "it as an instance of its own with Elsa.ExecuteWorkflow or "
                                     "Elsa.DispatchWorkflow",
                                     PAWL_STR_ARG(name));
    }
    if (loader->frame->level >= loader->limits->embed_max)
        return pawl__error_set(loader->err, PAWL_ELIMIT,
                               "%s: workflows are used within workflows more than %u levels deep",
                               loader->frame->outer ? loader->frame->at : pointer,
                               loader->limits->embed_max);
    return PAWL_OK;
}

int pawl__loader_source(struct pawl_loader *loader, const struct pawl_workflow_reference *reference,
                        const char *pointer, struct loader_source **out)
{
    const struct pawl_json *given = NULL;
    const void *address;
    struct loader_source *source;
    int status;

    *out = NULL;
    if (!loader->resolver)
        return PAWL_OK;
    status = loader->resolver->find(loader->resolver->ctx, reference, &given, loader->err);
    if (status != PAWL_OK)
        return status == PAWL_ENOTFOUND ? PAWL_OK : status;
    status = check_nesting(loader, given, pointer);
    if (status != PAWL_OK)
        return status;
    address = given;
    source = pawl__map_get(&loader->sources, pawl__loader_address(&address));
    if (source) {
        *out = source;
        return PAWL_OK;
    }
    return read_source(loader, given, pointer, out);
}

static int note_embedded(struct pawl_loader *loader, const struct pawl_workflow *workflow)
{
    struct pawl_graph *graph = loader->graph;

    if (graph->embedded_count == loader->embedded_cap) {
        uint32_t cap = loader->embedded_cap ? loader->embedded_cap * 2 : 4;
        struct pawl_embedded *grown = pawl__arena_alloc_array(loader->arena, cap, sizeof *grown);

        if (!grown)
            return loader_memory(loader);
        if (graph->embedded_count > 0)
            memcpy(grown, graph->embedded, graph->embedded_count * sizeof *grown);
        graph->embedded = grown;
        loader->embedded_cap = cap;
    }
    graph->embedded[graph->embedded_count++] =
        (struct pawl_embedded){workflow->definition_id, workflow->version_id, workflow->version};
    return PAWL_OK;
}

int pawl__loader_embed(struct pawl_loader *loader, struct pawl_node *node,
                       struct loader_source *source)
{
    bool again = source->loaded;
    struct loader_frame frame;
    struct pawl_node *child;
    int status = again ? PAWL_OK : note_embedded(loader, source->workflow);

    if (status != PAWL_OK)
        return status;
    source->loaded = true;
    node->workflow = source->workflow;
    node->variables = source->variables;
    node->variable_count = source->variable_count;
    enter(loader, &frame, source->workflow, node->pointer.ptr);
    loader->muted += again;
    status = load_workflow(loader, source->workflow, node, &child);
    loader->muted -= again;
    loader->frame = frame.outer;
    return status;
}

/* ---- the whole graph --------------------------------------------------------------------- */

static int load(struct pawl_loader *loader, const struct pawl_json *definition)
{
    struct pawl_graph *graph = loader->graph;
    struct loader_frame frame;
    int status;

    graph->workflow = pawl__arena_alloc_zeroed(loader->arena, sizeof *graph->workflow);
    if (!graph->workflow)
        return loader_memory(loader);
    enter(loader, &frame, graph->workflow, "");
    status = take_definition(loader, definition, graph->workflow);
    if (status == PAWL_OK)
        status = load_workflow(loader, graph->workflow, NULL, &graph->root);
    if (status == PAWL_OK)
        status = pawl__loader_index(loader);
    loader->frame = NULL;
    return status == PAWL_OK ? loader->problem_status : status;
}

int pawl__graph_read(struct pawl_graph *graph, const struct pawl_json *definition,
                     const struct pawl_workflow_resolver *resolver,
                     const struct pawl_graph_limits *limits, struct pawl_problems *problems,
                     struct pawl_error *err)
{
    const struct pawl_allocator *alloc = graph->arena.alloc;
    struct pawl_hash_seed seed = graph->engine->activities.seed;
    struct pawl_loader loader = {
        .graph = graph,
        .arena = &graph->arena,
        .engine = graph->engine,
        .resolver = resolver,
        .limits = limits,
        .problems = problems,
        .err = err,
    };
    int status;

    pawl__map_init(&loader.sources, alloc, seed);
    pawl__map_init(&loader.shapes, alloc, seed);
    pawl__buf_init(&loader.scratch, alloc, limits->bytes_max);
    pawl__buf_init(&loader.place, alloc, limits->bytes_max);
    status = load(&loader, definition);
    pawl__buf_release(&loader.place);
    pawl__buf_release(&loader.scratch);
    pawl__map_release(&loader.shapes);
    pawl__map_release(&loader.sources);
    if (graph->arena.status == PAWL_ELIMIT)
        return pawl__error_set(err, PAWL_ELIMIT,
                               "the definition needs more than %zu MB once loaded; split it into "
                               "several",
                               limits->bytes_max >> 20);
    if (status == PAWL_ENOMEM)
        return pawl__error_code(err, status);
    return status;
}
